import StarRating from "star-rating.js";
import "star-rating.js/dist/star-rating.min.css";

const changes = [];
const select = document.getElementById("rating");
new StarRating(".star-rating");
select.addEventListener("change", () => changes.push(select.value));
window.oracle = () => ({ value: select.value, changes });
