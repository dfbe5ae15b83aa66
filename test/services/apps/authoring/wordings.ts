/** Rows of `sentence | sentence => what they mean`. */
const table = (rows: string): (readonly [sentence: string, meaning: string])[] =>
  rows
    .trim()
    .split("\n")
    .flatMap((row) => {
      const [sentences = "", meaning = ""] = row.split(/ => ?/);
      return sentences.split(" | ").map((sentence) => [sentence, meaning] as const);
    });

/** How people write steps, and what each means; a case of the simulated shop of the tests. */
export const understood = table(`
click "Sign in" => click_element selector="Sign in"
click "Help" expecting status 404 => click_element selector="Help" expect_status=404
open https://shop.example/gone with status 401 => navigate_to_url url="https://shop.example/gone" expect_status=401
press ENTER, and expect a status of 503 => press_key key="ENTER" expect_status=503
click on "Sign in" | click the "Sign in" button | press "Sign in" | press the "Sign in" button => click_element selector="Sign in"
press on "Sign in" | tap "Sign in" | push "Sign in" | select "Sign in" => click_element selector="Sign in"
choose "Germany" | pick "Germany" => click_element selector="Germany"
tick "Gift" | tick the "Gift" box | check the "Gift" box | check the box "Gift" => set_checked selector="Gift" checked=true
check the checkbox "Gift" => set_checked selector="Gift" checked=true
uncheck "Gift" | untick the "Gift" checkbox | unselect "Gift" | deselect "Gift" => set_checked selector="Gift" checked=false
enable "Wi-Fi" => set_checked selector="Wi-Fi" checked=true
disable "Wi-Fi" => set_checked selector="Wi-Fi" checked=false
enter "anna" in "User" | enter "anna" into the "User" field => input_text selector="User" text="anna"
enter "anna" in the field "User" | type "anna" in the "User" field => input_text selector="User" text="anna"
type "anna" => type_text text="anna"
type "anna" in "User" and press Enter => input_text selector="User" text="anna" ++ press_key key="Enter"
fill in "User" with "anna" | fill "User" with "anna" | fill in "anna" in "User" => input_text selector="User" text="anna"
fill "anna" into "User" | fill out "User" with "anna" | set "User" to "anna" => input_text selector="User" text="anna"
set "Country" to "Germany" => input_text selector="Country" text="Germany"
input "anna" into "User" => input_text selector="User" text="anna"
clear "User" | clear the "User" field | clear the field "User" | empty "User" => input_text selector="User" text=""
hover "Menu" | hover over "Menu" | hover on "Menu" | mouse over "Menu" => hover_element selector="Menu"
scroll down => scroll direction="down"
scroll up => scroll direction="up"
scroll to "Footer" => scroll_to_element selector="Footer"
scroll to the bottom | scroll to bottom => scroll direction="bottom"
scroll to top => scroll direction="top"
scroll "List" down | scroll down in "List" => scroll selector="List" direction="down"
scroll until "Footer" is visible | scroll "Footer" into view => scroll_to_element selector="Footer"
wait for "Done" => element_visible selector="Done"
wait for text "Done" | wait for the text "Done" => text_visible text="Done"
wait until "Done" is visible | wait until "Done" appears => element_visible selector="Done"
wait until "Spinner" is gone | wait until "Spinner" disappears => element_hidden selector="Spinner"
wait for "Spinner" to disappear | wait for "Spinner" to be hidden => element_hidden selector="Spinner"
wait for "Spinner" to go away => element_hidden selector="Spinner"
wait for "Save" to be enabled => element_enabled selector="Save"
wait up to 10 s for "Done" => element_visible selector="Done"
wait at most 10 seconds for text "Done" => text_visible text="Done"
wait 5 seconds for "Done" => element_visible selector="Done"
wait for 2 seconds | wait 2 seconds | wait 2s => sleep 2000 ms
wait until the url has "/cart" => url_matches url="/cart"
wait until the title is "Cart" => title_matches title="Cart"
upload "photo.png" to "Picture" | attach "photo.png" to "Picture" => upload_file selector="Picture" files=["photo.png"]
drag "A" to "B" | drag "A" onto "B" | drag and drop "A" onto "B" | drop "A" on "B" => drag_and_drop selector="A" to_selector="B"
go back => press_key key="BACK"
go forward => go_forward
press back | navigate back | back => press_key key="BACK"
reload | reload the page | refresh | refresh the page => reload
open https://shop.example/ | open "https://shop.example/" => navigate_to_url url="https://shop.example/"
go to https://shop.example/ => navigate_to_url url="https://shop.example/"
go to "https://shop.example/cart" => navigate_to_url url="https://shop.example/cart"
open /cart | go to /cart | open "/cart" | visit "/cart" | open the page "/cart" => navigate_to_url url="/cart"
switch to the second tab => switch_tab tab=1
open a new tab => open_tab
close the tab | close this tab => close_tab
accept the next dialog => handle_dialog accept=true
press Enter | press the Enter key => press_key key="Enter"
press enter in "Search" => press_key key="enter" selector="Search"
press Enter on "Search" => press_key key="Enter" selector="Search"
press Tab => press_key key="Tab"
press Escape => press_key key="Escape"
press Esc => press_key key="Esc"
press Ctrl+A => press_key key="Ctrl+A"
press CTRL + A => press_key key="CTRL+A"
press Control+A => press_key key="Control+A"
hit Enter => press_key key="Enter"
see "Thank you" | I see "Thank you" | should see "Thank you" => text_visible text="Thank you"
should not see "Error" | I should not see "Error" | I don't see "Error" | do not see "Error" => not text_visible text="Error"
check text "Thank you" | check that text "Thank you" is visible => text_visible text="Thank you"
check the text "Thank you" is shown | check the page has text "Thank you" => text_visible text="Thank you"
check the page contains "Thank you" | the page should contain "Thank you" => text_visible text="Thank you"
page contains "Thank you" => text_visible text="Thank you"
page does not contain "Error" | the page should not contain "Error" => not text_visible text="Error"
check "Thank you" is visible | check "Thank you" is shown => element_visible selector="Thank you"
check "Thank you" is on the page | "Thank you" is visible => element_visible selector="Thank you"
"Thank you" is not visible => not element_visible selector="Thank you"
check "Error" is not visible => not element_visible selector="Error"
check "Error" is hidden => element_hidden selector="Error"
check "Error" does not exist => not element_exists selector="Error"
check "Save" exists | "Save" exists => element_exists selector="Save"
expect "Save" to be visible => element_visible selector="Save"
expect "Save" to be disabled => not element_enabled selector="Save"
expect "Save" not to be visible | expect "Save" to not be visible => not element_visible selector="Save"
expect "Save" to have text "Save" => element_text selector="Save" text="Save"
verify "Save" is disabled => not element_enabled selector="Save"
verify "Save" is enabled => element_enabled selector="Save"
verify that the "Save" button is disabled | assert "Save" is disabled => not element_enabled selector="Save"
check "User" has value "anna" | check the value of "User" is "anna" => element_value selector="User" value="anna"
check "User" has the value "anna" | check "User" equals "anna" => element_value selector="User" value="anna"
check "User" contains "anna" => element_value selector="User" value="anna" match="contains"
check "Total" contains text "36" => element_text selector="Total" text="36" match="contains"
check "Total" contains "36" => element_value selector="Total" value="36" match="contains"
check "Total" has text "36" | check "Total" shows "36" | check "Total" reads "36" => element_text selector="Total" text="36"
check "Total" has exactly the text "36 €" => element_text selector="Total" text="36 €" match="exact"
check "Total" has exactly "36 €" => element_value selector="Total" value="36 €" match="exact"
check the text of "Total" is "36" => element_text selector="Total" text="36"
check "Total" does not have text "36" => not element_text selector="Total" text="36"
check "User" does not have value "anna" => not element_value selector="User" value="anna"
check "Total" should contain "36" => element_value selector="Total" value="36" match="contains"
check the title is "Cart" | check title is "Cart" | title is "Cart" | the title should be "Cart" => title_matches title="Cart"
page title is "Cart" => title_matches title="Cart"
check the title contains "Cart" => title_matches title="Cart" match="contains"
check the title is not "Cart" => not title_matches title="Cart"
check url contains "/cart" | check that the url contains "/cart" => url_matches url="/cart" match="contains"
check the url does not contain "/cart" => not url_matches url="/cart" match="contains"
check there are 3 "Row" | check "Row" appears 3 times => element_count selector="Row" count=3
check there is 1 "Row" => element_count selector="Row" count=1
there are 3 "Row" | there should be 3 "Row" => element_count selector="Row" count=3
check there are at least 3 "Row" => element_count selector="Row" min=3
check there are no "Row" | check there is no "Row" => element_count selector="Row" count=0
check the count of "Row" is 3 => element_count selector="Row" count=3
check the number of "css=.row" is 3 => element_count selector="css=.row" count=3
check the number of "Row" is not 3 => not element_count selector="Row" count=3
check "Gift" is checked | check "Gift" is ticked => element_checked selector="Gift"
check "Gift" is not checked => not element_checked selector="Gift"
check "Gift" is unchecked => element_state selector="Gift" state="unchecked"
check that "Gift" is selected => element_state selector="Gift" state="selected"
check "User" is empty => element_value selector="User" value=""
check "User" is not empty => not element_value selector="User" value=""
check "User" is focused | check "User" has focus => element_focused selector="User"
check "User" has placeholder "Name" => element_attribute selector="User" attribute="placeholder" value="Name"
check "Logo" has attribute "alt" with value "Shop" => element_attribute selector="Logo" attribute="alt" value="Shop"
double click "Row" | double-click on "Row" => double_click selector="Row"
right click "Row" | right-click on "Row" => right_click selector="Row"
long press "Row" | press and hold "Row" => long_press selector="Row"
rotate to landscape => rotate to="landscape"
hide the keyboard => hide_keyboard
open the app => open_app app="{{app}}"
close the app => close_app app="{{app}}"
go to Home | go to "Home" => navigation Home
navigate to Cart => navigation Cart
check we are on Cart => text_visible text="Your cart", text_visible text="Pay"
log in | login | run test "log in" => call_testcase log in
click at 10, 20 => tap_x_y x=10 y=20
click "Save" then check text "Saved" => click_element selector="Save" ++ text_visible text="Saved"
click the button "Save" | click button "Save" => click_element selector="Save"
click the link "Help" | click link "Help" => click_element selector="Help"
click the "Save" icon | click the "Save" menu item => click_element selector="Save"
select "Germany" from "Country" | select "Germany" in "Country" => select_option selector="Country" option="Germany"
select "Germany" from the "Country" dropdown => select_option selector="Country" option="Germany"
select option "Germany" from "Country" => select_option selector="Country" option="Germany"
select the option "Germany" in "Country" | choose "Germany" as "Country" => select_option selector="Country" option="Germany"
make sure "Gift" is checked | ensure the "Gift" box is ticked => element_checked selector="Gift"
check if "Save" is visible | check whether "Save" is visible => element_visible selector="Save"
check "Save" and "Cancel" are visible => element_visible selector="Save", element_visible selector="Cancel"
check "Save" becomes visible within 5 seconds => element_visible selector="Save"
check text "Done" within 10 seconds => text_visible text="Done"
"Done" appears within 10 seconds => element_visible selector="Done"
the user sees "Welcome" => text_visible text="Welcome"
user clicks "Save" | I click "Save" | the user clicks the "Save" button => click_element selector="Save"
I enter "anna" in "User" | I type "anna" into "User" | user enters "anna" into "User" => input_text selector="User" text="anna"
When I click "Save" => click_element selector="Save"
Then I should see "Saved" | And I should see "Saved" => text_visible text="Saved"
But I should not see "Error" => not text_visible text="Error"
clicks "Save" | click "Save". => click_element selector="Save"
set the date "Birthday" to "2026-01-31" => input_text selector="Birthday" text="2026-01-31"
send "anna" to "User" => input_text selector="User" text="anna"
send keys "anna" => type_text text="anna"
choose file "photo.png" for "Picture" => upload_file selector="Picture" files=["photo.png"]
turn "Wi-Fi" on => set_checked selector="Wi-Fi" checked=true
switch "Wi-Fi" off => set_checked selector="Wi-Fi" checked=false
switch on "Wi-Fi" => set_checked selector="Wi-Fi" checked=true
check the checkbox "Gift" is checked | check the "Gift" checkbox is checked => element_checked selector="Gift"
check box "Gift" is ticked => element_checked selector="Gift"
check text field "User" is shown => element_visible selector="User"
fill "anna" in "User" => input_text selector="User" text="anna"
open "https://shop.example/" in a new tab => open_tab url="https://shop.example/"
dismiss the next alert => handle_dialog accept=false
answer the next prompt with "Anna" => handle_dialog accept=true prompt_text="Anna"
check a dialog with text "Sure?" was shown => dialog_seen text="Sure?"
check "report.csv" was downloaded => download_received name="report.csv"
check the cell "Sum" of row "Lamp" in "css=table" is "36" => table_cell selector="css=table" row="Lamp" column="Sum" text="36"
check "Price" is at least 3 => value_between selector="Price" min=3
check "Price" is between 3 and 5.5 => value_between selector="Price" min=3 max=5.5
wait until there are 3 "Row" => element_count selector="Row" count=3
wait until "Total" has text "36" | check "Total" has text "36" within 10 s => element_text selector="Total" text="36"
press Enter 3 times => press_key key="Enter" count=3
press ARROW DOWN twice => press_key key="DOWN" count=2
press "OK" => click_element selector="OK"
check "A" and "B" are not shown => not element_visible selector="A", not element_visible selector="B"
press the "Enter" button => click_element selector="Enter"
fill "Email" "anna" => input_text selector="Email" text="anna"
select "Country" "Germany" => select_option selector="Country" option="Germany"
check count "css=.item" 3 => element_count selector="css=.item" count=3
check not visible "#error" => not element_visible selector="#error"
check value "Email" "anna" => element_value selector="Email" value="anna"
`);

/** What is not guessed, with words of the answer: why, or how it is written. */
export const refused = table(`
check "Gift" => tick "Gift"
toggle "Wi-Fi" => turn on "Wi-Fi"
wait | wait a second | wait for the page to load => wait for text "T"
wait for url "/cart" => check the url has "/cart"
upload "photo.png" => say which field takes the file, as in upload "photo.png" to "FIELD"
switch to tab 2 | switch to the new tab | switch to tab "Help" => switch to the second tab
switch to frame "Pay" => no node is called "frame "Pay""
accept the dialog | accept the alert | dismiss the dialog | cancel the dialog => accept the next dialog
click OK in the dialog => what is clicked is given in quotes, as in click "OK in the dialog"
accept the dialog with "Anna" | answer the prompt with "Anna" => accept the next dialog
check "User" is "anna" | check "User" = "anna" => check "User" has text "anna"
check "Total" is exactly "36 €" => check "Total" has text "36 €"
check "Total" does not contain "36" => check "Total" does not have text "36"
check the url is "/cart" | url is "/cart" | the url should be "/cart" => check the url has "/cart"
check the url is not "/cart" => check the url does not contain "/cart"
check the url ends with "/cart" => check the url has "/cart"
check the url starts with "https" => check the url has "https"
check the url matches "/cart" => check the url has "/cart"
check there are 3 rows | check the table "Orders" has 3 rows | check "Orders" has 3 rows => check there are 3 "css=.row"
check "Orders" has 3 items => check there are 3 "css=.row"
check the row "Lamp" has "36" => check the cell "COLUMN" of row "ROW" in "X" is "T"
check row "Lamp" of "Orders" has "36 €" in "Sum" => check the cell "COLUMN" of row "ROW" in "X" is "T"
check the cell "Sum" of row "Lamp" is "36" => check the cell "COLUMN" of row "ROW" in "X" is "T"
swipe left => scroll right
swipe up => scroll down
swipe left on "Card" => scroll right in "Card"
pinch "Map" =>
open app "Shop" => no node is called "app "Shop""
restart the app => close the app
take a screenshot | screenshot => check text "T"
I am on Home =>
sign in as "anna" => call test
call "log in" =>
focus "User" => click "User"
download "Report" | click "Save" twice | click "Save" 3 times | click "Save" in "Dialog" => click "X"
click "Delete" in the row "Lamp" | click "Delete" next to "Lamp" => click "X"
click the Save button | click Save => what is clicked is given in quotes, as in click "Save"
type anna into User | type anna into "User" => type "T" into "X"
set "Country" as "Germany" =>
press "Enter" => press Enter
press "Tab" => press Tab
do not click "Save" | don't click "Save" | never click "Save" => check "X" is not shown
if "Save" is visible click "Save" => wait for "X"
click "Save" if visible => click "X"
try to click "Save" => wait for "X"
check "Save" is visible for 5 seconds | check "Done" within 10 s =>
check "Price" is greater than "3" | check "Price" is less than 10 => check there are at least 3 "X"
Given I am on Home | clicking "Save" | copy "Total" | paste into "User" | select all | undo | maximize the window =>
resize the window to 800x600 | zoom in =>
submit the form => click "X"
submit "Login" => click "Login"
submit => click "X"
expand "Details" | collapse "Details" | close "Details" => click "Details"
close the "Cookie" dialog | dismiss "Cookie" | accept "Cookie" => click "Cookie"
accept cookies => click "X"
confirm "Delete" => click "Delete"
confirm the dialog => accept the next dialog
cancel => click "X"
expect "A" to not contain "b" => check "A" does not have text "b"
open /cart in a new tab => Cart
press save => what is clicked is given in quotes, as in click "save"
fill in "User" =>
check "Total" does not have "36" => check "Total" does not have text "36"
drag "A" "B" =>
click css=.buy => what is clicked is given in quotes, as in click "css=.buy"
open Foo => no node is called "Foo"
click e3 => what is clicked is given in quotes, as in click "e3"
scroll fast down =>
text "Thank you" => check text "T"
check url "/cart" => check the url has "/cart"
`);
