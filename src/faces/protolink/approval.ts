/** Approvals under Protolink's names: a request is JSON, as in events, and a handler answers it. */
import { RuntimeError } from '../../core/value/error.ts';
import type { Decision } from '../../core/wait/answer.ts';
import type { RunEvent } from '../../projections/run/run-event.ts';
import { type Fields, RunAction } from './artifact.ts';
import type { RunContext } from './run-context.ts';

/** JSON. */
export interface ApprovalRequest {
  readonly request_id: string;
  readonly run_id: string | null;
  readonly action: RunAction;
  readonly summary: string | null;
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

export function readRequest({ payload, run_id, summary }: RunEvent): ApprovalRequest {
  const { request_id, action } = payload.request as { request_id: string; action: Fields };
  return { request_id, run_id, action: RunAction.fromDict(action), summary };
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
