export const presetNames = ["browserstack", "saucelabs", "lambdatest", "devicefarm", "headspin"] as const;

/** A cloud, by its documents; not tried with an account. */
export type Preset = {
  /** Undefined if each customer or each session has its own address. */
  url?: string;
  /** The capability that holds the cloud's own options, user and key among them. */
  option?: string;
  /** The defaults of these options. */
  options?: Readonly<Record<string, unknown>>;
  capabilities?: Readonly<Record<string, unknown>>;
  /** A session ends after so long without commands. */
  idleSeconds?: number;
  /** The script that reports a verdict in the session; {{status}} is passed or failed, {{reason}} a text within JSON. */
  verdict?: string;
  /** Why there is no such script, by its documents. */
  noVerdict?: string;
  /** The page of the session with its video; {{session}} is its id. Undefined if the documents name no such page. */
  report?: string;
  pages: readonly string[];
};

export const presets: Readonly<Record<(typeof presetNames)[number], Preset>> = {
  browserstack: {
    url: "https://hub.browserstack.com/wd/hub",
    option: "bstack:options",
    options: { idleTimeout: 300 },
    idleSeconds: 300,
    verdict:
      'browserstack_executor: {"action": "setSessionStatus", "arguments": {"status": "{{status}}", "reason": "{{reason}}"}}',
    // The pages of the session and of its video also need the id of its build.
    report: "https://api-cloud.browserstack.com/app-automate/sessions/{{session}}.json",
    pages: [
      "https://browserstack.com/docs/app-automate/appium/getting-started/java/testng/integrate-your-tests-legacy",
      "https://www.browserstack.com/docs/app-automate/appium/troubleshooting/browserstack-idle-timeout",
      "https://www.browserstack.com/docs/app-automate/appium/references/timeouts",
      "https://www.browserstack.com/docs/app-automate/appium/set-name-and-status-of-test",
      "https://www.browserstack.com/docs/app-automate/api-reference/appium/sessions",
    ],
  },
  saucelabs: {
    url: "https://ondemand.us-west-1.saucelabs.com/wd/hub",
    option: "sauce:options",
    // The longest that real devices allow.
    idleSeconds: 90,
    verdict: "sauce:job-result={{status}}",
    report: "https://app.saucelabs.com/tests/{{session}}",
    pages: [
      "https://docs.saucelabs.com/basics/data-center-endpoints/",
      "https://docs.saucelabs.com/dev/test-configuration-options/",
      "https://docs.saucelabs.com/test-results/test-status/",
    ],
  },
  lambdatest: {
    url: "https://mobile-hub.lambdatest.com/wd/hub",
    option: "lt:options",
    options: { w3c: true, isRealMobile: true },
    idleSeconds: 120,
    verdict:
      'lambda-hook: {"action": "setTestStatus", "arguments": {"status": "{{status}}", "remark": "{{reason}}"}}',
    // The pages name an address of one session for browsers only.
    report: "https://appautomation.lambdatest.com/build",
    pages: [
      "https://www.lambdatest.com/support/docs/desired-capabilities-in-appium/",
      "https://www.lambdatest.com/support/docs/appium-python/",
      "https://lambdatest.com/support/docs/appium-lambdatest-hooks",
    ],
  },
  devicefarm: {
    // The address is that of a remote access session, and its device.
    idleSeconds: 300,
    noVerdict: "The documents of AWS Device Farm name no way to report a verdict to a remote access session.",
    report: "https://console.aws.amazon.com/devicefarm",
    pages: [
      "https://docs.aws.amazon.com/devicefarm/latest/developerguide/appium-endpoint-interaction.html",
      "https://docs.aws.amazon.com/devicefarm/latest/developerguide/appium-endpoint-getting-started.html",
      "https://docs.aws.amazon.com/devicefarm/latest/APIReference/API_RemoteAccessSession.html",
    ],
  },
  headspin: {
    // The address is that of a host of the customer, with a token in it.
    capabilities: { "headspin:capture.video": true },
    noVerdict:
      "The documents of HeadSpin name none for a test: v0/reliability/report-status, a REST call with a token of its own, reports faults of their platform.",
    pages: [
      "https://headspin.io/docs/appium-capabilities",
      "https://headspin.io/docs/selenium-capabilities",
      "https://www.headspin.io/docs/reliability",
      "https://headspin.io/docs/waterfall-ui",
    ],
  },
};

/** The script that reports a verdict to the cloud; undefined where none is known. */
export function verdictScript({ verdict }: Preset, status: string, reason: string): string | undefined {
  const within = JSON.stringify(reason).slice(1, -1);
  return verdict?.replace("{{status}}", status).replace("{{reason}}", () => within);
}

export const reportOf = ({ report }: Preset, session: string): string | undefined =>
  report?.replace("{{session}}", encodeURIComponent(session));
