import { useEffect, useRef, useState } from "preact/hooks";
import type { RunView } from "../domain/runView.ts";
import { Activity } from "./activity.tsx";
import { Shots } from "./shots.tsx";
import { Facts, Reason } from "./states.tsx";
import { Lines, Text } from "./text.tsx";

export type Step = RunView["steps"][number];

/** All that a step says of itself; without its pictures where those are shown next to it. */
export function StepDetails({ step, isBare }: { step: Step; isBare?: boolean }) {
  const { finding, error, notices = [], pictures, area, activity, files, input, output } = step;
  return (
    <>
      <Reason of={error} />
      {finding && (
        <Facts
          rows={[
            ["Expected", finding.expected],
            ["Found", finding.found],
            ...(finding.nearest.length > 0 ? [["Nearest", finding.nearest.join("\n")] as const] : []),
            ...(finding.score === undefined ? [] : [["Likeness", percent(finding.score)] as const]),
          ]}
        />
      )}
      <Lines lines={notices} />
      {!isBare && pictures.length > 0 && (
        <Shots pictures={pictures} area={area} since={pictureBefore(step)} />
      )}
      {activity && <Activity {...activity} />}
      {files.map((file) => (
        <File key={file.uri} {...file} />
      ))}
      <Text title="Input" text={input} />
      <Text title="Output" text={output} />
    </>
  );
}

const percent = (share: number) => `${Math.round(share * 100)} %`;

export const pictureBefore = ({ pictures }: Step) => pictures.find(({ caption }) => /before/.test(caption));

/** A video in a player, from second `at` on; any other file, and a video that the browser cannot play, as a link. */
export function File({ uri, caption, href, mime_type, at }: Step["files"][number] & { at?: number }) {
  const video = useRef<HTMLVideoElement>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    if (video.current && at !== undefined) video.current.currentTime = Math.max(0, at);
  }, [at]);
  if (href === undefined)
    return (
      <p class="soft small">
        {caption}, not in this file: {uri}
      </p>
    );
  if (mime_type.startsWith("video/") && !isBroken) {
    const shown = { controls: true, preload: "metadata", src: href, onError: () => setBroken(true) } as const;
    return <video {...shown} ref={video} aria-label={caption} />;
  }
  const isTrace = /zip/.test(mime_type);
  return (
    <p class="small">
      <a href={href} download={isTrace ? `${caption}.zip` : undefined} target="_blank" rel="noreferrer">
        {caption}
      </a>
      {isTrace && (
        <>
          , to be shown with <code>labwright trace {caption}.zip</code>
        </>
      )}
    </p>
  );
}
