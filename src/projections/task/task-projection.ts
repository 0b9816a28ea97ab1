/**
 * Projects a task's log as its stream. It always begins at the task's first row, whatever cursor a reader has, because
 * the last event has the whole text.
 * T1. A task that requires no knowledge emits a readiness check, too, so that its readers need no special case.
 * T2. A task whose loop never began ends without `control_end`.
 */
import type { EventKind, ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { BackendErrorDetail, TaskEmission } from '../../core/task/emission.ts';
import type { LogRow } from '../projection.ts';
import type { RuntimeStreamEvent, StreamEventData } from './stream-event.ts';

export interface TaskReading {
  readonly taskId: string;
  readonly checked: boolean;
  readonly began: boolean;
  readonly text: string;
  /** Why a backend has failed; the last such failure. */
  readonly error?: BackendErrorDetail;
}

export function beginTask(taskId: string): TaskReading {
  return { taskId, checked: false, began: false, text: '' };
}

export function projectTask(
  reading: TaskReading,
  { event }: LogRow,
): readonly [TaskReading, readonly RuntimeStreamEvent[]] {
  const handle = HANDLERS[event.type] as ((reading: TaskReading, event: ThreadEvent) => Told) | undefined;
  if (!handle) return [reading, []];
  const { known = {}, tell = [] } = handle(reading, event);
  const stamp = { taskId: reading.taskId, timestamp: new Date(event.at / 1000).toISOString() };
  return [{ ...reading, ...known }, tell.map((each) => ({ ...each, ...stamp }) as RuntimeStreamEvent)];
}

interface Told {
  readonly known?: Partial<TaskReading>;
  readonly tell?: readonly object[];
}

function tell<Type extends keyof StreamEventData>(type: Type, data: StreamEventData[Type]): Told {
  return { tell: [{ type, ...data }] };
}

type Handlers = {
  readonly [Kind in EventKind]?: (reading: TaskReading, event: ThreadEventOf<Kind>) => Told;
};

function heard(text: string, event: TaskEmission): Partial<TaskReading> {
  if (event.type === 'text_delta') return { text: text + event.text };
  if (event.type === 'text_discarded') return { text: '' };
  return event.type === 'backend_error' && event.error ? { error: event.error } : {};
}

const READY = { kind: 'ready', score: 1, reason: 'nothing is required', gaps: [] } as const;

const HANDLERS: Handlers = {
  'task.created': (_, { data: { taskId: id, name, intent } }) =>
    tell('task_start', { task: { id, name, intent } }),
  'task.manifest': (_, { data: { from, to } }) => tell('manifest_changed', { from, to }),
  'task.checking': () => tell('readiness_start', {}),
  'task.asked': (_, { data: { questions } }) => tell('questions_start', { questions }),
  'task.answered': (_, { data: { requirementIds } }) => tell('questions_end', { requirementIds }),
  'task.acquiring': (_, { data: { plans } }) => tell('acquisition_start', { acquisitionPlans: plans }),
  'task.acquired': (_, { data: { evidenceIds } }) =>
    tell('acquisition_end', { acquiredEvidenceIds: evidenceIds }),
  'task.readiness': (_, { data: { decision, knowledge } }) => ({
    known: { checked: true },
    ...tell('readiness_end', { decision, knowledge }),
  }),
  'task.observed'({ began, checked }, { step = 0, data: { score, failing } }) {
    const seen = { type: 'control_observed', step, score, failing };
    if (began) return { tell: [seen] };
    // T1: nothing was required.
    const ready = checked ? [] : [{ type: 'readiness_start' }, { type: 'readiness_end', decision: READY }];
    return { known: { began: true, checked: true }, tell: [...ready, { type: 'control_start' }, seen] };
  },
  'task.decided': (_, { step = 0, data: { kind } }) => tell('control_decided', { step, decision: kind }),
  'task.acting': (_, { step = 0 }) => tell('control_acting', { step }),
  'task.acted': (_, { step = 0, data }) => tell('control_step', { step, ...data }),
  'task.failed': (_, { step = 0, data }) => tell('control_error', { step, ...data }),
  'task.emitted'({ text }, { step = 0, data: { event } }) {
    return { known: heard(text, event), tell: [{ ...event, step }] };
  },
  'wait.opened': (_, { data: { waitId, kind, summary } }) => tell('waiting_start', { waitId, kind, summary }),
  'wait.answered': (_, { data: { waitId } }) => tell('waiting_end', { waitId, answered: true }),
  'wait.closed': (_, { data: { waitId } }) => tell('waiting_end', { waitId, answered: false }),
  'task.ended'({ began, text, error }, { data: { status, ...ended } }) {
    const { reason, code } = ended;
    // T2: only if the loop began.
    const control = began ? [{ type: 'control_end', ...ended }] : [];
    const whole = {
      ...(code === undefined ? {} : { code }),
      ...(text === '' ? {} : { text }),
      ...(error && status !== 'completed' ? { error } : {}),
    };
    return {
      tell: [...control, { type: 'task_end', status, reason }, { type: 'final', status, reason, ...whole }],
    };
  },
};
