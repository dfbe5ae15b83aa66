import flatpickr from "flatpickr";
import "flatpickr/dist/flatpickr.min.css";

const picker = flatpickr("#due", { defaultDate: "2027-01-05" });
window.oracle = () => ({ chosen: picker.selectedDates.map((date) => flatpickr.formatDate(date, "Y-m-d")) });
