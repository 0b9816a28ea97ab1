/** An action that was judged, and the denial if it was denied. */
import type { JudgedAction } from '../../core/governance/agent-policy.ts';
import type { ErrorCode } from '../../core/value/error.ts';

export interface ActionDenial {
  readonly code: ErrorCode;
  readonly reason: string;
  /** Set if the denial ends the execution. */
  readonly fatal?: true;
}

export interface DecidedAction extends JudgedAction {
  /** Set if the action was denied. */
  readonly denied?: ActionDenial;
}
