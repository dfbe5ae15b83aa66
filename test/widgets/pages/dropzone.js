import { Dropzone } from "dropzone";
import "dropzone/dist/dropzone.css";

const zone = new Dropzone("#attachments", { autoProcessQueue: false });
window.oracle = () => ({ files: zone.files.map(({ name, size }) => ({ name, size })) });
