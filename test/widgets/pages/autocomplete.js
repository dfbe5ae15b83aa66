import accessibleAutocomplete from "accessible-autocomplete";
import "accessible-autocomplete/dist/accessible-autocomplete.min.css";

const confirmed = [];
accessibleAutocomplete({
  element: document.getElementById("container"),
  id: "country",
  source: ["Austria", "Denmark", "Finland", "North Korea", "North Macedonia", "Norway", "Portugal", "Sweden"],
  onConfirm: (choice) => confirmed.push(choice),
});
window.oracle = () => ({ confirmed });
