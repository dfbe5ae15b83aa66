const row = (at) =>
  `<section><h2>Part ${at}</h2><p>What part ${at} is about.</p>
   <label>Name of part ${at} <input name="n${at}"></label>
   <a href="#${at}">Open part ${at}</a> <button type="button">Remove part ${at}</button>
   <span>Ready</span> <em>new</em> <strong>${at}</strong></section>`;
document.getElementById("rows").innerHTML = Array.from({ length: 1000 }, (_, at) => row(at + 1)).join("");
window.oracle = () => ({ elements: document.querySelectorAll("#rows *").length });
