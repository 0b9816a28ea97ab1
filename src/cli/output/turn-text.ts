/**
 * Prints AgenticX's RuntimeEvents as lines for people, or as NDJSON with the cursor that continues after each event.
 */
import { isTerminal, type RuntimeEvent } from '../../projections/agenticx/agenticx-event.ts';
import type { Projected } from '../../projections/projection.ts';
import { printDataLine, printLine, tone } from './output.ts';
import { shorten } from './terminal-text.ts';

export async function printTurns(
  events: AsyncIterable<Projected<RuntimeEvent>>,
  json: boolean | undefined,
): Promise<void> {
  for await (const row of events) {
    if (json) printDataLine(row);
    else printLine(turnText(row.event));
  }
}

/** Formats an event: `tool_call           meta  {"name":"look",…}`. */
function turnText(event: RuntimeEvent): string {
  const { type, agent_id: agent, data } = event;
  const kind = tone(type === 'error' ? 'red' : isTerminal(event) ? 'green' : 'dim', type.padEnd(20));
  return `${kind}  ${shorten(agent, 24)}  ${shorten(JSON.stringify(data), 140)}`;
}
