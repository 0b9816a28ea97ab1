/** Prints events as lines for people, or as NDJSON with the cursor that continues after each event. */

import { shorten } from '../../core/value/shown-text.ts';
import type { Projected } from '../../projections/projection.ts';
import type { RunEvent } from '../../projections/run/run-event.ts';
import { printDataLine, printLine, type Tone, tone } from './output.ts';

const TONES: Readonly<Record<RunEvent['severity'], Tone>> = { info: 'dim', warning: 'yellow', error: 'red' };

export async function printProjected<E>(
  events: AsyncIterable<Projected<E>>,
  json: boolean | undefined,
  toText: (event: E) => string,
): Promise<void> {
  for await (const row of events) {
    if (json) printDataLine(row);
    else printLine(toText(row.event));
  }
}

/** Formats an event: `12  action.started  refund: started`, after its time. */
export function runEventText({ sequence, type, payload, summary, severity, timestamp }: RunEvent): string {
  const kind = type === 'llm.stream' ? `llm.stream ${String(payload.llm_event_type)}` : type;
  const place = `${timestamp.slice(11, 23)}  ${String(sequence ?? '').padStart(4)}`;
  return `${tone('dim', place)}  ${tone(TONES[severity], shorten(kind, 40).padEnd(28))}  ${shorten(summary ?? '', 140)}`;
}
