import L from "leaflet";
import "leaflet/dist/leaflet.css";
import icon from "leaflet/dist/images/marker-icon.png";

const opened = [];
const map = L.map("map").setView([41, -5], 5);
const offices = { Lisbon: [38.72, -9.14], Madrid: [40.42, -3.7], Barcelona: [41.39, 2.17] };
for (const [name, place] of Object.entries(offices)) {
  const look = L.icon({ iconUrl: icon, iconSize: [25, 41], iconAnchor: [12, 41], popupAnchor: [1, -34] });
  const marker = L.marker(place, { icon: look, title: name, alt: name }).addTo(map);
  marker.bindPopup(`Our office in ${name}`);
  marker.on("popupopen", () => opened.push(name));
}
window.oracle = () => ({ zoom: map.getZoom(), opened });
