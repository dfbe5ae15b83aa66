# Walks every edge of an app's tree and says which fail. No arguments; the app is userinterface_name
import os
import sys

import labwright

if len(sys.argv) != 1 or "LABWRIGHT_USERINTERFACE" not in os.environ:
    sys.exit("Give no arguments, and the app as userinterface_name.")

report = labwright.run("validate_navigation", userinterface_name=os.environ["LABWRIGHT_USERINTERFACE"])
for problem in report.get("problems", []):
    print(problem)
counts = {name: report.get(name, 0) for name in ("passed", "failed", "unverified")}
walked = counts["passed"] + counts["failed"]
message = f"{counts['passed']} of {walked} ways passed, {counts['unverified']} of them to a screen without checks"
labwright.result(report["status"] if report["status"] == "passed" else "failed", message, **counts)
