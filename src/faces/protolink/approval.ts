/** Approvals under Protolink's names: a request is JSON, as in events, and a handler answers it. */
import { RuntimeError } from '../../core/value/error.ts';
import type { Decision } from '../../core/wait/answer.ts';
import { toArtifact } from '../../projections/run/run-artifact.ts';
import type { RunEvent } from '../../projections/run/run-event.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import { type Fields, RunAction, type RunActionFields } from './artifact.ts';
import type { RunContext } from './run-context.ts';

/** JSON. */
export interface ApprovalRequest {
  /** The wait's id; without a wait, that of the action. */
  readonly request_id: string;
  readonly run_id: string | null;
  /** With the arguments that will run; secrets are removed. */
  readonly action: RunAction;
  readonly policy_decision: Fields | null;
  /** What will be done, as 64 hex digits: an approval counts for nothing else. */
  readonly fingerprint: string | null;
  readonly summary: string | null;
  /** ISO 8601, UTC, as is `expires_at`. */
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly metadata: Fields;
}

export interface ApprovalDecision {
  readonly approved: boolean;
  readonly request_id: string;
  readonly reason?: string;
  readonly decided_by?: string;
}

/** Called while its process lives; if the wait is answered elsewhere first, that answer counts. */
export type ApprovalHandler = (
  request: ApprovalRequest,
  context: RunContext,
) => ApprovalDecision | boolean | Promise<ApprovalDecision | boolean>;

/** Reads the request of an `approval.required` event, or of the denial of an action that needed an approval. */
export function readRequest({ payload, run_id, summary }: RunEvent, wait?: Wait): ApprovalRequest {
  const { action = {}, ...asked } = payload.request as Fields & { readonly action?: Fields };
  // An action of a delegate is no action of this run: its wait shows it.
  if (wait && action.action_id === undefined)
    return fromWait(wait, { ...asked, run_id, summary } as unknown as ApprovalRequest);
  const { request_id, policy_decision, created_at, expires_at, metadata } =
    asked as unknown as ApprovalRequest;
  const about = {
    action: RunAction.fromDict(action),
    fingerprint: (action.fingerprint ?? null) as string | null,
  };
  return { request_id, run_id, summary, ...about, policy_decision, created_at, expires_at, metadata };
}

function fromWait({ name, data, fingerprint }: Wait, asked: ApprovalRequest): ApprovalRequest {
  const { actionId, arguments: given, artifacts, reason, ...shown } = data as Fields & RunActionFields;
  const action = RunAction.fromDict({
    ...shown,
    name,
    action_id: actionId,
    payload: { arguments: given },
    artifacts: (artifacts as readonly Fields[]).map(toArtifact),
  });
  const policy_decision = { effect: 'require_approval', reason };
  return { ...asked, action, policy_decision, fingerprint };
}

/** Throws `InvalidValue` for an invalid decision, or one for another request: nothing is decided then. */
export function readDecision(given: unknown, { request_id }: ApprovalRequest): Decision {
  if (typeof given === 'boolean') return { approved: given };
  const { approved, request_id: about, reason, decided_by: by } = (given ?? {}) as Partial<ApprovalDecision>;
  if (typeof approved !== 'boolean')
    throw new RuntimeError(
      'InvalidValue',
      'An approval handler must return true, false or an ApprovalDecision.',
    );
  if (about !== request_id)
    throw new RuntimeError(
      'InvalidValue',
      `The decision is for the request "${about}", not for "${request_id}".`,
    );
  return { approved, ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
}
