import Tagify from "@yaireo/tagify";
import "@yaireo/tagify/dist/tagify.css";

const tagify = new Tagify(document.getElementById("tags"));
window.oracle = () => ({ tags: tagify.value.map(({ value }) => value) });
