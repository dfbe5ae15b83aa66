import "emoji-picker-element";

const picked = [];
const picker = document.querySelector("emoji-picker");
picker.dataSource = "/emoji/data.json";
picker.addEventListener("emoji-click", ({ detail }) => picked.push(detail.unicode));
window.oracle = () => ({ picked });
