# Goes to a screen of an app by name and checks the arrival. Arguments: the screen's name; the app is userinterface_name
import os
import sys

import labwright

if len(sys.argv) != 2 or "LABWRIGHT_USERINTERFACE" not in os.environ:
    sys.exit("Give the screen's name as the only argument, and the app as userinterface_name.")

app = os.environ["LABWRIGHT_USERINTERFACE"]
try:
    arrival = labwright.run("navigate_to_node", userinterface_name=app, node=sys.argv[1])
except labwright.LabwrightError as error:
    print(error)
    labwright.result("failed", str(error), code=error.code)
else:
    print(arrival.get("path", arrival.get("at", sys.argv[1])))
    labwright.result("passed", at=arrival.get("at"), verified=arrival.get("verified", False))
