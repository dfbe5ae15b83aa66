#!/usr/bin/env node
// The console of cec-client, as libCEC 6 writes it, for a test without an adapter. What is sent goes to the file of $CEC_SENT.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const say = (line) => process.stdout.write(`${line}\n`);
if (process.argv.includes("/dev/missing")) {
  say("No device type given. Using 'recording device'");
  say("ERROR:   [             12]\tcould not open a connection");
  say("unable to open the device on port /dev/missing");
  process.exit(1);
}
say("CEC Parser created - libCEC version 6.0.2");
say("NOTICE:  [              3]\tlibCEC version: 6.0.2, git revision: unknown");
say("waiting for input");
let last = "";
for await (const line of createInterface({ input: process.stdin })) {
  const [, bytes] = /^tx ([0-9a-f:]+)$/.exec(line) ?? [];
  if (bytes === undefined) continue;
  // A code that the bus does not take, one that is never answered, and one whose release is not taken.
  const isStuck = last.endsWith(":fd");
  last = bytes;
  if (bytes.endsWith(":fe") || isStuck) say("ERROR:   [            420]\tfailed to transmit");
  if (/:f[ef]$/.test(bytes) || isStuck) continue;
  appendFileSync(process.env.CEC_SENT, `${bytes}\n`);
  say(`TRAFFIC: [            420]\t<< ${bytes}`);
}
