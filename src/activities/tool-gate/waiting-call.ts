/** What the workflow receives about a call that waits (core/thread/step.ts). */
import type { WaitingCall } from '../../core/thread/step.ts';
import type { Wait } from '../../store/wait/wait-record.ts';

const WAIT_LABELS = {
  approval: 'approval of',
  question: 'an answer to',
  variables: 'variables of',
  paused: 'permission to continue for',
  reconcile: 'the outcome of',
} as const satisfies Record<Wait['kind'], string>;

/** The texts are kept in the workflow's history, so they hold only names and ids. */
export function toWaitingCall({ id, kind, name, expiresAt }: Wait): WaitingCall {
  return {
    kind: 'waits',
    waitId: id,
    waitKind: kind,
    name: name.slice(0, 64),
    text: `${WAIT_LABELS[kind]} ${name.slice(0, 64)} (${id})`,
    expiresAt: expiresAt === null ? null : Math.ceil(expiresAt / 1000),
  };
}
