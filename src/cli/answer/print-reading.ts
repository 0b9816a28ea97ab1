/**
 * `threads tail`: prints a thread's story, or with `--as` its log as events of another system. Loaded only when used:
 * the readings are large.
 */
import { followForm } from '../../client/follow-run.ts';
import { shorten } from '../../core/value/shown-text.ts';
import { isTerminal, type RuntimeEvent } from '../../projections/agenticx/agenticx-event.ts';
import type { LogForm } from '../../projections/log-form.ts';
import { isLastEvent, type TangleEvent } from '../../projections/tangle/tangle-event.ts';
import type { ThreadStore } from '../../store/store.ts';
import { tone } from '../output/output.ts';
import { printProjected, runEventText } from '../output/run-text.ts';
import { printStory } from './story-printer.ts';

interface ReadingOptions {
  readonly as: LogForm;
  readonly json?: boolean;
  readonly after?: string;
  readonly follow: boolean;
  readonly run?: string;
}

export async function printReading(
  store: ThreadStore,
  threadId: string,
  options: ReadingOptions,
): Promise<void> {
  const { as, json } = options;
  if (as === 'story') return printStory(followForm(store, threadId, { ...options, as }), json);
  if (as === 'agenticx')
    return printProjected(followForm(store, threadId, { ...options, as }), json, turnText);
  if (as === 'tangle')
    return printProjected(followForm(store, threadId, { ...options, as }), json, tangleText);
  return printProjected(followForm(store, threadId, { ...options, as: 'run' }), json, runEventText);
}

/** Formats an event: `tool_call           meta  {"name":"look",…}`. */
function turnText(event: RuntimeEvent): string {
  const { type, agent_id: agent, data } = event;
  const kind = tone(type === 'error' ? 'red' : isTerminal(event) ? 'green' : 'dim', type.padEnd(20));
  return `${kind}  ${shorten(agent, 24)}  ${shorten(JSON.stringify(data), 140)}`;
}

/** Formats an event: `tool_call             {"toolName":"look",…}`. */
function tangleText(event: TangleEvent): string {
  const { type, data } = event;
  const isFailure = type === 'error' || type === 'execution.failed';
  const kind = tone(isFailure ? 'red' : isLastEvent(event) ? 'green' : 'dim', type.padEnd(20));
  return `${kind}  ${shorten(JSON.stringify(data), 140)}`;
}
