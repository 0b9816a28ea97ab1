/**
 * Projects the log as RunEvents. It may begin at the start of any execution.
 * - Exactly one event of a run is marked `final`: its last.
 * - `sequence` counts the events of a run; a removed row counts as one, the event that it has given (J2).
 * - Between runs only events of authors' code (`app.*`) are emitted, with a null run and sequence.
 */
import type { ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import { writeContextMetadata } from '../../core/governance/context-metadata.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { LogRow, Projection } from '../projection.ts';
import { argumentsOf, toRowMessage } from '../row-message.ts';
import { projectSpans, type TraceProject } from '../trace/trace-projection.ts';
import type { OpenExecution } from '../trace/trace-state.ts';
import { ACTION_HANDLERS, GOVERNED_HANDLERS } from './run-action.ts';
import type { RunEvent, RunEventDraft } from './run-event.ts';
import type { Fields, RunHandlers, RunTransition } from './run-handler.ts';
import { CONTEXT_HANDLERS, MODEL_HANDLERS } from './run-model.ts';
import { completeDrafts, type OpenRun, type RunReading } from './run-state.ts';
import { BUDGET_HANDLERS, endRun, taskStatus, WAIT_HANDLERS } from './run-task.ts';

const HANDLERS: RunHandlers = {
  ...MODEL_HANDLERS,
  ...ACTION_HANDLERS,
  ...GOVERNED_HANDLERS,
  ...WAIT_HANDLERS,
  ...BUDGET_HANDLERS,
};

type ReadingTransition = readonly [RunReading, readonly RunEvent[]];

export const projectRun: Projection<RunReading, RunEvent> = (before, row) => {
  const { event } = row;
  const { threadId, run } = before;
  const [{ execution }] = projectSpans({ threadId, execution: run?.spans ?? null }, row, NO_PROJECT);
  const reading = countRemoved(before, event);
  switch (event.type) {
    case 'thread.created':
    case 'thread.forked':
      return [{ ...reading, agent: event.data.agent }, []];
    case 'thread.agent':
      return [{ ...reading, agent: event.data.to }, []];
    case 'execution.started':
      return execution
        ? startRun(reading, event, { given: row.context ?? null, spans: execution })
        : [reading, []];
    case 'execution.ended': {
      if (!reading.run) return [reading, []];
      const [ended, drafts] = completeDrafts(reading, event, endRun(reading.run, event.data));
      return [{ ...ended, run: null }, drafts];
    }
    case 'message.created':
      return [rememberMessage(reading, row), []];
    case 'custom':
      return completeDrafts(reading, event, [toAppEvent(event)]);
    default:
      return reading.run ? handleRow(reading, reading.run, event, execution) : [reading, []];
  }
};

/** Events do not name providers. */
const NO_PROJECT: TraceProject = { factoryOf: () => undefined };

/** Only streamed text is ever removed. */
function countRemoved(reading: RunReading, { seq }: ThreadEvent): RunReading {
  const removed = seq - reading.seq - 1;
  const { run } = reading;
  const counted = run && removed > 0 ? { ...run, sequence: run.sequence + removed } : run;
  return { ...reading, seq, run: counted };
}

function startRun(
  reading: RunReading,
  event: ThreadEventOf<'execution.started'>,
  { given, spans }: { readonly given: RunContext | null; readonly spans: OpenExecution },
): ReadingTransition {
  const { executionId } = event.data;
  const { runId = executionId } = event.data;
  // With the field names of the page.
  const context = given ? (writeContextMetadata(given).run_context as Fields) : null;
  const run: OpenRun = {
    threadId: reading.threadId,
    runId,
    executionId,
    startedAt: event.at,
    sequence: 0,
    context,
    answer: null,
    artifacts: [],
    actions: {},
    asked: { step: null, count: 0 },
    arguments: {},
    spans,
    said: null,
  };
  const statusEvent = taskStatus(['submitted', 'working'], context ? { run_context: context } : {});
  return completeDrafts({ ...reading, run }, event, [statusEvent]);
}

/** `spans`: null if the row ends the execution's span, but not its run. */
function handleRow(
  reading: RunReading,
  run: OpenRun,
  event: ThreadEvent,
  spans: OpenExecution | null,
): ReadingTransition {
  const [next, drafts] = handle(run, event);
  return completeDrafts({ ...reading, run: { ...next, spans: spans ?? run.spans } }, event, drafts, run);
}

function handle(run: OpenRun, event: ThreadEvent): RunTransition {
  const context = CONTEXT_HANDLERS[event.type];
  if (context) return context(run, event.data as Fields, event);
  // The handler is looked up by the type of the event, so the cast is safe.
  const handler = HANDLERS[event.type] as ((run: OpenRun, event: ThreadEvent) => RunTransition) | undefined;
  return handler ? handler(run, event) : [run, []];
}

/** Remembers a message: it is emitted with the row that shows what it is, such as an answer or a result. */
function rememberMessage(reading: RunReading, { event, message }: LogRow): RunReading {
  const { run } = reading;
  if (!run || event.type !== 'message.created') return reading;
  const said = toRowMessage(event.data.messageId, message);
  return {
    ...reading,
    run: { ...run, said, arguments: { ...run.arguments, ...argumentsOf(message) } },
  };
}

/** Also between runs. */
function toAppEvent({ data: { event, data, omitted } }: ThreadEventOf<'custom'>): RunEventDraft {
  const left = omitted === undefined ? {} : { omitted };
  return { type: `app.${event}`, payload: { name: event, data, ...left }, summary: event };
}
