/**
 * Projects the log as AG-UI events. It may begin at the start of any execution, which is one run.
 * - A run begins with a snapshot of all messages before it. So its readers, which cannot resume, have missed nothing.
 * - A run ends once, after everything that it has opened is closed.
 * - Nothing that happens between executions is emitted.
 */
import type { EventKind, ThreadEvent } from '../../core/event/thread-event.ts';
import { isAnswerId } from '../../core/message/answer-id.ts';
import type { LogRow, Projection } from '../projection.ts';
import { callsOf, toRowMessage } from '../row-message.ts';
import { CALL_HANDLERS, withShownCalls } from './ag-ui-calls.ts';
import { addUsage, endRun } from './ag-ui-end.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiHandlers, AgUiTransition } from './ag-ui-handler.ts';
import { type AgUiReading, NEW_RUN, NOTHING_STREAMED, type OpenRun } from './ag-ui-state.ts';
import { TEXT_HANDLERS } from './ag-ui-text.ts';

const HANDLERS: AgUiHandlers = {
  ...TEXT_HANDLERS,
  ...CALL_HANDLERS,
  'model.answered': (run, { data: { usage } }) => [{ ...run, usage: addUsage(run.usage, usage) }, []],
};

/** Kinds of rows that are emitted unchanged, as custom events. */
const CUSTOM_EVENT_KINDS: ReadonlySet<EventKind> = new Set<EventKind>([
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
  const reading = rememberMessage(before, row);
  const { open } = reading;
  if (event.type === 'execution.started')
    return [{ ...reading, open: NEW_RUN }, [{ type: 'MESSAGES_SNAPSHOT', upTo: reading.upTo || event.at }]];
  if (!open) return [reading, []];
  if (event.type === 'execution.ended') return [{ ...reading, open: null }, endRun(open, event.data)];
  if (event.type === 'message.created') return emitJoinedMessage(reading, open, row);
  const [run, events] = handle(open, event, reading);
  const notes: AgUiEvent[] = CUSTOM_EVENT_KINDS.has(event.type)
    ? [{ type: 'CUSTOM', name: `everthread.${event.type}`, value: event.data }]
    : [];
  return [{ ...reading, open: run }, [...events, ...notes]];
};

function handle(run: OpenRun, event: ThreadEvent, reading: AgUiReading): AgUiTransition {
  // The handler is looked up by the type of the event, so the cast is safe.
  const handler = HANDLERS[event.type] as
    | ((run: OpenRun, event: ThreadEvent, reading: AgUiReading) => AgUiTransition)
    | undefined;
  return handler ? handler(run, event, reading) : [run, []];
}

/** Remembers a message; the row after it shows what it is. */
function rememberMessage(reading: AgUiReading, { event, message }: LogRow): AgUiReading {
  if (event.type !== 'message.created' || !message) return reading;
  const { open } = reading;
  const { id, created_at: at } = message;
  const advanced = { ...reading, prior: reading.upTo, upTo: Math.max(reading.upTo, at) };
  if (!open) return advanced;
  // Calls of a sub-prompt are not emitted.
  const own = event.data.depth === undefined ? callsOf(message) : [];
  const given = own.map((call) => [
    call.id,
    { name: call.function.name, given: call.function.arguments, parent: id },
  ]);
  return {
    ...advanced,
    open: {
      ...open,
      said: toRowMessage(id, message),
      asked: { ...open.asked, ...Object.fromEntries(given) },
    },
  };
}

/** Emits a user's message that joins the running execution at once, by a snapshot. */
function emitJoinedMessage(
  reading: AgUiReading,
  open: OpenRun,
  { event, message }: LogRow,
): readonly [AgUiReading, readonly AgUiEvent[]] {
  const { upTo } = reading;
  if (event.type !== 'message.created' || event.data.role !== 'user' || event.data.depth !== undefined)
    return [reading, []];
  // While a text is open, a snapshot would remove it. Answers of the thread's other side are emitted by their steps.
  const isStreaming = open.text !== null || Object.keys(open.inputs).length > 0;
  if (!message || message.silent || isStreaming || isAnswerId(message.id)) return [reading, []];
  return [{ ...reading, open: withShownCalls(open) }, [{ type: 'MESSAGES_SNAPSHOT', upTo }]];
}

/** Begins a separate run in the middle of an execution: events are emitted from here on. */
export function enterRun(reading: AgUiReading): readonly [AgUiReading, readonly AgUiEvent[]] {
  const { open, upTo } = reading;
  if (!open) return [reading, []];
  const run = {
    ...withShownCalls(open),
    step: null,
    ...NOTHING_STREAMED,
    inputs: {},
    subagents: {},
    usage: null,
  };
  return [{ ...reading, open: run }, [{ type: 'MESSAGES_SNAPSHOT', upTo }]];
}
