/** Limits a settlement to the bounds that the host checks: cuts texts, and rounds memory to a non-negative integer. */
import type { CodeExecutionError } from '../../core/author/code-execution.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Settlement } from '../protocol.ts';

export function boundSettlement(
  settlement: Settlement,
  memoryUsedBytes: number | undefined,
): { settlement: Settlement; memoryUsedBytes?: number } {
  const bounded =
    settlement.status === 'success' ? settlement : { ...settlement, error: boundError(settlement.error) };
  if (memoryUsedBytes === undefined) return { settlement: bounded };
  return { settlement: bounded, memoryUsedBytes: Math.max(0, Math.round(memoryUsedBytes)) };
}

function boundError(error: CodeExecutionError): CodeExecutionError {
  const { errorNameLength, errorMessageLength, errorStackLength } = SANDBOX_LIMITS;
  const { stack, filename, specifier } = error;
  return {
    ...error,
    name: truncate(error.name, errorNameLength),
    message: truncate(error.message, errorMessageLength),
    ...(stack === undefined ? {} : { stack: truncate(stack, errorStackLength) }),
    ...(filename === undefined ? {} : { filename: truncate(filename, errorMessageLength) }),
    ...(specifier === undefined ? {} : { specifier: truncate(specifier, errorMessageLength) }),
  };
}

function truncate(text: string, length: number): string {
  return text.length <= length + 1 ? text : `${text.slice(0, length)}…`;
}
