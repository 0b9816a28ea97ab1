/**
 * Projects a task's log as its stream. It always begins at the task's first row, whatever cursor a reader has, because
 * the last event has the whole text.
 * - A task that requires no knowledge emits a readiness check, too, so that its readers need no special case.
 * - A task whose loop never began ends without `control_end`.
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
  const handle = HANDLERS[event.type] as
    | ((reading: TaskReading, event: ThreadEvent) => TaskChange)
    | undefined;
  if (!handle) return [reading, []];
  const { known = {}, tell = [] } = handle(reading, event);
  const stamp = { taskId: reading.taskId, timestamp: new Date(event.at / 1000).toISOString() };
  return [{ ...reading, ...known }, tell.map((each) => ({ ...each, ...stamp }) as RuntimeStreamEvent)];
}

interface TaskChange {
  readonly known?: Partial<TaskReading>;
  readonly tell?: readonly object[];
}

function emit<Type extends keyof StreamEventData>(type: Type, data: StreamEventData[Type]): TaskChange {
  return { tell: [{ type, ...data }] };
}

type Handlers = {
  readonly [Kind in EventKind]?: (reading: TaskReading, event: ThreadEventOf<Kind>) => TaskChange;
};

function readEmission(text: string, event: TaskEmission): Partial<TaskReading> {
  if (event.type === 'text_delta') return { text: text + event.text };
  if (event.type === 'text_discarded') return { text: '' };
  return event.type === 'backend_error' && event.error ? { error: event.error } : {};
}

const READY_DECISION = { kind: 'ready', score: 1, reason: 'nothing is required', gaps: [] } as const;

const HANDLERS: Handlers = {
  'task.created': (_, { data: { taskId: id, name, intent } }) =>
    emit('task_start', { task: { id, name, intent } }),
  'task.manifest': (_, { data: { from, to } }) => emit('manifest_changed', { from, to }),
  'task.checking': () => emit('readiness_start', {}),
  'task.asked': (_, { data: { questions } }) => emit('questions_start', { questions }),
  'task.answered': (_, { data: { requirementIds } }) => emit('questions_end', { requirementIds }),
  'task.acquiring': (_, { data: { plans } }) => emit('acquisition_start', { acquisitionPlans: plans }),
  'task.acquired': (_, { data: { evidenceIds } }) =>
    emit('acquisition_end', { acquiredEvidenceIds: evidenceIds }),
  'task.readiness': (_, { data: { decision, knowledge } }) => ({
    known: { checked: true },
    ...emit('readiness_end', { decision, knowledge }),
  }),
  'task.observed'({ began, checked }, { step = 0, data: { score, failing } }) {
    const seen = { type: 'control_observed', step, score, failing };
    if (began) return { tell: [seen] };
    const ready = checked
      ? []
      : [{ type: 'readiness_start' }, { type: 'readiness_end', decision: READY_DECISION }];
    return { known: { began: true, checked: true }, tell: [...ready, { type: 'control_start' }, seen] };
  },
  'task.decided': (_, { step = 0, data: { kind } }) => emit('control_decided', { step, decision: kind }),
  'task.acting': (_, { step = 0 }) => emit('control_acting', { step }),
  'task.acted': (_, { step = 0, data }) => emit('control_step', { step, ...data }),
  'task.failed': (_, { step = 0, data }) => emit('control_error', { step, ...data }),
  'task.emitted'({ text }, { step = 0, data: { event } }) {
    return { known: readEmission(text, event), tell: [{ ...event, step }] };
  },
  'wait.opened': (_, { data: { waitId, kind, summary } }) => emit('waiting_start', { waitId, kind, summary }),
  'wait.answered': (_, { data: { waitId } }) => emit('waiting_end', { waitId, answered: true }),
  'wait.closed': (_, { data: { waitId } }) => emit('waiting_end', { waitId, answered: false }),
  'task.ended'({ began, text, error }, { data: { status, ...ended } }) {
    const { reason, code } = ended;
    // Only if the loop began.
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
