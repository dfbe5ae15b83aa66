import Sortable from "sortablejs";

const sortable = Sortable.create(document.getElementById("items"), { dataIdAttr: "data-id" });
window.oracle = () => ({ order: [...sortable.el.children].map((item) => item.textContent) });
