import intlTelInput from "intl-tel-input/intlTelInputWithUtils";
import "intl-tel-input/styles";

const field = intlTelInput(document.getElementById("phone"), { initialCountry: "us" });
window.oracle = () => ({ number: field.getNumber() });
