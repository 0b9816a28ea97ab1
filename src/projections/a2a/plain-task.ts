/** Converts a task of A2A to the names of Protolink's runtime page. */
import type { RunTaskState } from '../run/run-event.ts';
import type { A2aPart, A2aTask, TaskState, TaskStatus } from './a2a-shape.ts';

const PLAIN_STATES: Readonly<Record<TaskState, RunTaskState>> = {
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_AUTH_REQUIRED: 'input-required',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_REJECTED: 'failed',
};

export function stateWord({ state }: TaskStatus): RunTaskState {
  return PLAIN_STATES[state];
}

export function toPlainTask(id: string, { contextId, status, artifacts, history }: A2aTask) {
  const why = status.message?.parts.find(({ text }) => text !== undefined)?.text;
  const state = stateWord(status);
  return {
    id,
    state,
    messages: history.map(({ role, parts }) => ({
      role: role === 'ROLE_USER' ? 'user' : 'agent',
      parts: parts.map(toPlainPart),
    })),
    artifacts: artifacts.map(({ artifactId, name, parts }) => ({
      id: artifactId,
      kind: 'result',
      name,
      parts: parts.map(toPlainPart),
    })),
    metadata: {
      thread_id: contextId,
      ...(state === 'canceled' && why !== undefined ? { cancel_reason: why } : {}),
      ...(state === 'failed' && why !== undefined ? { error: { message: why } } : {}),
    },
  };
}

export function toPlainPart({ text, url, data }: A2aPart) {
  if (text !== undefined) return { type: 'text', content: text };
  return url === undefined ? { type: 'json', content: data } : { type: 'uri', content: url };
}
