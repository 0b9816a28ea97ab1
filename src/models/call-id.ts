/** Ids of calls, as a provider gives them: one that is too long to be stored gets one of ours, the same wherever it stands. */
import { createHash } from 'node:crypto';
import { LIMITS } from '../core/value/limit.ts';

export function toCallId(given: string): string {
  if (given.length <= LIMITS.callIdChars) return given;
  return `call_${createHash('sha256').update(given).digest('hex').slice(0, 32)}`;
}
