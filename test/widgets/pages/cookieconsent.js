import { run } from "vanilla-cookieconsent";
import "vanilla-cookieconsent/dist/cookieconsent.css";

const consents = [];
void run({
  // It hides itself from every browser that says that it is driven.
  hideFromBots: false,
  onFirstConsent: ({ cookie }) => consents.push(cookie.categories),
  categories: {
    necessary: { enabled: true, readOnly: true },
    analytics: {},
    ads: {},
  },
  language: {
    default: "en",
    translations: {
      en: {
        consentModal: {
          title: "We use cookies",
          description: "Cookie modal description",
          acceptAllBtn: "Accept all",
          acceptNecessaryBtn: "Reject all",
          showPreferencesBtn: "Manage Individual preferences",
        },
        preferencesModal: {
          title: "Manage cookie preferences",
          acceptAllBtn: "Accept all",
          acceptNecessaryBtn: "Reject all",
          savePreferencesBtn: "Accept current selection",
          closeIconLabel: "Close modal",
          sections: [
            { title: "Somebody said ... cookies?", description: "I want one!" },
            {
              title: "Strictly Necessary cookies",
              description:
                "These cookies are essential for the proper functioning of the website and cannot be disabled.",
              linkedCategory: "necessary",
            },
            {
              title: "Performance and Analytics",
              description:
                "These cookies collect information about how you use our website. All of the data is anonymized and cannot be used to identify you.",
              linkedCategory: "analytics",
            },
            {
              title: "Targeting and Advertising",
              description: "These cookies are used to make advertising messages more relevant to you.",
              linkedCategory: "ads",
            },
          ],
        },
      },
    },
  },
});
window.oracle = () => ({ consents });
