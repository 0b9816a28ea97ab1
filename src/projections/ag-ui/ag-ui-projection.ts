/**
 * The log as AG-UI. It may begin at the start of any execution, which is one run.
 * Q1. A run begins with a snapshot of all messages before it: its readers cannot come back, and have then missed nothing.
 * Q2. It ends once, with everything closed that it has opened.
 * Q3. What happens between executions is not told.
 */
import type { EventKind, ThreadEvent } from '../../core/event/thread-event.ts';
import { isAnswerId } from '../../core/message/answer-id.ts';
import type { LogRow, Projection } from '../projection.ts';
import { callsOf, saidBy } from '../row-message.ts';
import { CALL_HANDLERS, withShownCalls } from './ag-ui-calls.ts';
import { addUsage, endRun } from './ag-ui-end.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiHandlers, AgUiTold } from './ag-ui-handler.ts';
import { type AgUiReading, NEW_RUN, type OpenRun } from './ag-ui-state.ts';
import { TEXT_HANDLERS } from './ag-ui-text.ts';

const HANDLERS: AgUiHandlers = {
  ...TEXT_HANDLERS,
  ...CALL_HANDLERS,
  'model.answered': (run, { data: { usage } }) => [{ ...run, usage: addUsage(run.usage, usage) }, []],
};

/** Told as they are, beside the messages. */
const NOTES: ReadonlySet<EventKind> = new Set<EventKind>([
  'subagent.status',
  'file.created',
  'file.updated',
  'file.deleted',
  'effect.scheduled',
  'effect.done',
  'effect.failed',
  'budget.warning',
  'budget.exceeded',
]);

export const projectAgUi: Projection<AgUiReading, AgUiEvent> = (before, row) => {
  const { event } = row;
  const reading = hear(before, row);
  const { open } = reading;
  // Q1: with a snapshot.
  if (event.type === 'execution.started')
    return [{ ...reading, open: NEW_RUN }, [{ type: 'MESSAGES_SNAPSHOT', upTo: reading.upTo || event.at }]];
  // Q3: between executions.
  if (!open) return [reading, []];
  // Q2: once.
  if (event.type === 'execution.ended') return [{ ...reading, open: null }, endRun(open, event.data)];
  if (event.type === 'message.created') return joined(reading, open, row);
  const [run, told] = handle(open, event, reading);
  const notes: AgUiEvent[] = NOTES.has(event.type)
    ? [{ type: 'CUSTOM', name: `everthread.${event.type}`, value: event.data }]
    : [];
  return [{ ...reading, open: run }, [...told, ...notes]];
};

function handle(run: OpenRun, event: ThreadEvent, reading: AgUiReading): AgUiTold {
  // Narrowed by its type: the handler is the one of that kind.
  const handler = HANDLERS[event.type] as
    | ((run: OpenRun, event: ThreadEvent, reading: AgUiReading) => AgUiTold)
    | undefined;
  return handler ? handler(run, event, reading) : [run, []];
}

/** A message, whose meaning the row behind it says. */
function hear(reading: AgUiReading, { event, message }: LogRow): AgUiReading {
  if (event.type !== 'message.created' || !message) return reading;
  const { open } = reading;
  const { id, created_at: at } = message;
  const heard = { ...reading, prior: reading.upTo, upTo: Math.max(reading.upTo, at) };
  if (!open) return heard;
  // A sub-prompt's calls are not told.
  const own = event.data.depth === undefined ? callsOf(message) : [];
  const given = own.map((call) => [
    call.id,
    { name: call.function.name, given: call.function.arguments, parent: id },
  ]);
  return {
    ...heard,
    open: { ...open, said: saidBy(id, message), asked: { ...open.asked, ...Object.fromEntries(given) } },
  };
}

/** What a user says meanwhile is told at once. */
function joined(
  reading: AgUiReading,
  open: OpenRun,
  { event, message }: LogRow,
): readonly [AgUiReading, readonly AgUiEvent[]] {
  const { upTo } = reading;
  if (event.type !== 'message.created' || event.data.role !== 'user' || event.data.depth !== undefined)
    return [reading, []];
  // Within a text a snapshot would take it back. What the agent's other side says is told by its step.
  if (!message || message.silent || open.text || isAnswerId(message.id)) return [reading, []];
  return [{ ...reading, open: withShownCalls(open) }, [{ type: 'MESSAGES_SNAPSHOT', upTo }]];
}

/** Told from here on: a run of its own begins in the middle of an execution. */
export function enterRun(reading: AgUiReading): readonly [AgUiReading, readonly AgUiEvent[]] {
  const { open, upTo } = reading;
  if (!open) return [reading, []];
  const run = { ...withShownCalls(open), step: null, text: null, subagents: {}, usage: null };
  return [{ ...reading, open: run }, [{ type: 'MESSAGES_SNAPSHOT', upTo }]];
}
