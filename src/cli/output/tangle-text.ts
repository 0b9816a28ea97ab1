/**
 * Prints events of Tangle's boxes as lines for people, or as NDJSON with the cursor that continues after each event.
 */
import type { Projected } from '../../projections/projection.ts';
import { isLastEvent, type TangleEvent } from '../../projections/tangle/tangle-event.ts';
import { printDataLine, printLine, tone } from './output.ts';
import { shorten } from './terminal-text.ts';

export async function printTangle(
  events: AsyncIterable<Projected<TangleEvent>>,
  json: boolean | undefined,
): Promise<void> {
  for await (const row of events) {
    if (json) printDataLine(row);
    else printLine(tangleText(row.event));
  }
}

/** Formats an event: `tool_call             {"toolName":"look",…}`. */
function tangleText(event: TangleEvent): string {
  const { type, data } = event;
  const isFailure = type === 'error' || type === 'execution.failed';
  const kind = tone(isFailure ? 'red' : isLastEvent(event) ? 'green' : 'dim', type.padEnd(20));
  return `${kind}  ${shorten(JSON.stringify(data), 140)}`;
}
