/** The page that the laboratory's WebView shows: what a reader of pages meets, and buttons whose effect can be read. */
export const html = `<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Garden shop</title>
<style>
  body { font: 16px sans-serif; margin: 12px; }
  input, select, button { font-size: 16px; margin: 2px; }
  iframe { border: 0; width: 100%; height: 44px; }
  .far { margin-top: 900px; }
</style>
<h1>Order <b>seeds</b></h1>
<form onsubmit="return false">
  <label for="name">Your name</label> <input id="name" placeholder="Name">
  <input type="password" aria-label="PIN" id="pin"><br>
  <label><input type="checkbox" id="gift"> As a gift</label>
  <select id="size" aria-label="Size"><option>Small</option><option>Large</option></select>
  <button data-testid="order" id="send" onclick="said.textContent = 'Ordered for ' + document.getElementById('name').value">Order now</button>
  <button disabled>Sold out</button>
</form>
<p id="said" data-testid="said">Nothing ordered</p>
<ul><li>Tomato</li><li>Bean</li></ul>
<a href="#basket" onclick="said.textContent = 'The basket is empty'">Basket</a>
<p hidden>Hidden words</p>
<iframe title="Help" srcdoc="<body style='margin:0'><button onclick=&quot;this.textContent = 'Help is on its way'&quot;>Ask for help</button></body>"></iframe>
<iframe title="Advert" sandbox srcdoc="<button>Buy a mower</button>"></iframe>
<div id="host"></div>
<div style="cursor: pointer" onmouseup="said.textContent = 'A row was touched'"><span>Row</span> <em>one</em></div>
<p class="far">The end of the page</p>
<script>
  const said = document.getElementById("said");
  const root = document.getElementById("host").attachShadow({ mode: "open" });
  root.innerHTML = "<button>Rate us</button>";
  root.firstChild.onclick = () => { said.textContent = "Rated"; };
</script>
</html>`;
