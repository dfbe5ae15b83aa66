import Inputmask from "inputmask";

const phone = document.getElementById("phone");
const birthday = document.getElementById("birthday");
Inputmask("(999) 999-9999").mask(phone);
Inputmask("datetime", { inputFormat: "dd/mm/yyyy" }).mask(birthday);
window.oracle = () => ({
  phone: phone.inputmask.unmaskedvalue(),
  complete: phone.inputmask.isComplete() && birthday.inputmask.isComplete(),
  birthday: birthday.value,
});
