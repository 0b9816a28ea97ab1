/**
 * What a parent receives about its child (runtime §8.2, definitions §13.6). Clients recognise these messages by their beginning: see
 * REPORT_START. Pure.
 */

/**
 * `stopped`: the child was stopped and may continue later. `canceled`: its execution was cancelled, and is over.
 * `terminated`: it never continues.
 */
export const REPORT_KINDS = ['result', 'failure', 'stopped', 'canceled', 'terminated'] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

export interface SubagentReport {
  readonly kind: ReportKind;
  /** The child's answer, or why it failed or was ended; empty if no reason was given. */
  readonly content: string;
  /** Paths of files, in the thread that reads the report. */
  readonly attachments: readonly string[];
}

/** Why the thread of a child that can receive no further message ends (definitions §13.2). */
export const ENDED_BY_REPORT = 'it has reported to its parent';

export const REPORT_START = /^Subagent \(reference: ([^)]+)\)/;

const CLAUSE: Readonly<Record<ReportKind, string>> = {
  result: 'has finished',
  failure: 'has failed',
  stopped: 'was stopped before it finished',
  canceled: 'was cancelled before it finished',
  terminated: 'was terminated before it finished',
};

export interface ReportingChild {
  readonly threadId: string;
  /** Its agent. */
  readonly agent: string;
  readonly name: string | null;
}

/** Text of the message that is queued for the parent. */
export function formatReport(child: ReportingChild, { kind, content, attachments }: SubagentReport): string {
  const called = child.name ? `${child.agent} "${child.name}"` : child.agent;
  const lines = [`Subagent (reference: ${child.threadId}) ${called} ${CLAUSE[kind]}${content ? ':' : '.'}`];
  if (content) lines.push('', content);
  if (attachments.length > 0) lines.push('', 'Attachments:', ...attachments);
  return lines.join('\n');
}

/** The result of a call that waited for the child; a resumable child is named, so that it can be messaged again. */
export function formatResult(
  { threadId }: ReportingChild,
  { kind, content }: SubagentReport,
  resumable: boolean,
): string {
  const text = kind === 'result' ? content : `The subagent ${CLAUSE[kind]}${content ? `: ${content}` : '.'}`;
  return [text, ...(resumable ? [`Reference: ${threadId}`] : [])].filter((line) => line !== '').join('\n\n');
}

/** True for a status text that the child's own code has set (`state.setStatus`, a session tool). */
export function isOwnStatus(status: string): boolean {
  return status !== 'running' && !REPORT_KINDS.some((kind) => statusAfter(kind) === status);
}

/** The status of a child in its parent's registry after a report. */
export function statusAfter(kind: ReportKind): string {
  return kind === 'result' ? 'idle' : kind === 'failure' ? 'failed' : kind;
}
