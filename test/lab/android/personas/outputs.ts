/** Texts of services that say the same whatever happens. Written in the services' formats, not recorded from a device. */
const everywhere: Readonly<Record<string, string>> = {
  "dumpsys thermalservice": `IsStatusOverride: false
ThermalEventListeners:
	callbacks: 1
Thermal Status: 0
Cached temperatures:
	Temperature{mValue=31.5, mType=3, mName=skin, mStatus=0}
	Temperature{mValue=36.2, mType=0, mName=cpu, mStatus=0}
HAL Ready: true
`,
  "dumpsys wifi": `Wi-Fi is enabled
Stay-awake conditions: 0
mWifiInfo SSID: "Lab", BSSID: 02:00:00:00:00:00, MAC: 02:00:00:00:00:00, IP: /192.168.7.20, Security type: 2, Supplicant state: COMPLETED, Wi-Fi standard: 6, RSSI: -52, Link speed: 433Mbps, Frequency: 5180MHz, Net ID: 0, Metered hint: false, score: 60
`,
  "dumpsys connectivity": `NetworkProviders for:
  WifiNetworkFactory
Active default network: 100

Current Networks:
  NetworkAgentInfo{network{100}  handle{432902426637}  ni{WIFI CONNECTED extra: } created=1 Score(Policies : IS_VALIDATED&EVER_VALIDATED) lp{{InterfaceName: wlan0 LinkAddresses: [ 192.168.7.20/24 ] DnsAddresses: [ /192.168.7.1 ] }} nc{[ Transports: WIFI Capabilities: NOT_METERED&INTERNET&NOT_RESTRICTED&TRUSTED&NOT_VPN&VALIDATED&NOT_ROAMING&FOREGROUND&NOT_CONGESTED&NOT_SUSPENDED ]}}
`,
  "dumpsys deviceidle": `  Settings:
    light_after_inactive_to=+4m0s0ms
  mLightEnabled=true  mDeepEnabled=true
  mState=ACTIVE mLightState=ACTIVE
`,
  "df -h": `Filesystem        Size  Used Avail Use% Mounted on
/dev/block/dm-0   2.0G  1.9G     0 100% /
/dev/block/dm-40  108G   21G   87G  20% /data
/dev/fuse         108G   21G   87G  20% /storage/emulated
`,
  df: `Filesystem       1K-blocks     Used Available Use% Mounted on
/dev/block/dm-0    2031440  1985412         0 100% /
/dev/block/dm-40 113246208 22020096  91226112  20% /data
/dev/fuse        113246208 22020096  91226112  20% /storage/emulated
`,
  "service list":
    "Found 2 services:\n0	activity: [android.app.IActivityManager]\n1	window: [android.view.IWindowManager]\n",
  uptime: " 10:00:00 up 1 day,  2:03,  0 users,  load average: 0.10, 0.12, 0.09\n",
  "ime list -s": "com.android.inputmethod.latin/.LatinIME\n",
  "ime list -a":
    "com.android.inputmethod.latin/.LatinIME:\n  mId=com.android.inputmethod.latin/.LatinIME mSettingsActivityName=null\n",
  "ime list":
    "com.android.inputmethod.latin/.LatinIME:\n  mId=com.android.inputmethod.latin/.LatinIME mSettingsActivityName=null\n",
  getenforce: "Enforcing\n",
  "locksettings get-disabled": "true\n",
  whoami: "shell\n",
  id: "uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log),3003(inet) context=u:r:shell:s0\n",
  "id -u": "2000\n",
  "uname -a": "Linux localhost 5.10.0 #1 SMP PREEMPT x86_64 Toybox\n",
  "cmd -l":
    "Currently running services:\n  activity\n  display\n  input\n  input_method\n  locale\n  package\n  settings\n  statusbar\n  uimode\n  window\n",
  "dumpsys -l":
    "Currently running services:\n  SurfaceFlinger\n  activity\n  battery\n  connectivity\n  deviceidle\n  display\n  input_method\n  location\n  media_session\n  meminfo\n  package\n  power\n  wifi\n  window\n",
};

const battery = (level: number, present: boolean) => `Current Battery Service state:
  AC powered: false
  USB powered: true
  Wireless powered: false
  Max charging current: 500000
  status: 2
  health: 2
  present: ${present}
  level: ${level}
  scale: 100
  voltage: 4210
  temperature: 291
  technology: Li-ion
`;

export const phoneOutputs: Readonly<Record<string, string>> = {
  ...everywhere,
  "dumpsys battery": battery(88, true),
};

/** A television has no battery, and its services say so. */
export const tvOutputs: Readonly<Record<string, string>> = {
  ...everywhere,
  "dumpsys battery": battery(100, false),
};
