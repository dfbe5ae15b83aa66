import "@event-calendar/build/dist/event-calendar.min.css";

const opened = [];
const calendar = window.EventCalendar.create(document.getElementById("ec"), {
  view: "dayGridMonth",
  date: "2027-03-10",
  events: [
    { id: "1", start: "2027-03-12", end: "2027-03-12", allDay: true, title: "Release" },
    { id: "2", start: "2027-04-20", end: "2027-04-21", allDay: true, title: "Team offsite" },
    { id: "3", start: "2027-04-22", end: "2027-04-22", allDay: true, title: "Review" },
  ],
  eventClick: ({ event }) => opened.push(event.title),
});
window.oracle = () => ({ opened, from: calendar.getView().currentStart.toISOString().slice(0, 10) });
