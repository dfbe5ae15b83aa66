import MicroModal from "micromodal";

const events = [];
MicroModal.init({
  onShow: (modal) => events.push(`shown ${modal.id}`),
  onClose: (modal) => events.push(`closed ${modal.id}`),
});
document.getElementById("accept").addEventListener("click", () => events.push("accepted"));
window.oracle = () => ({ events });
