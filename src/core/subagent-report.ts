/**
 * What a parent is told of its child (runtime §8.2, definitions §13.6). Clients know these messages by how they begin: see
 * REPORT_START. Pure.
 */

/** `stopped`: somebody stopped the child, which may go on later. `terminated`: it never will. */
export type ReportKind = 'result' | 'failure' | 'stopped' | 'terminated';

export interface SubagentReport {
  readonly kind: ReportKind;
  /** What the child says, or why it failed. */
  readonly content: string;
  /** Paths of files of the thread in which they are read. */
  readonly attachments: readonly string[];
}

export const REPORT_START = /^Subagent \(reference: ([^)]+)\)/;

const CLAUSE: Readonly<Record<ReportKind, string>> = {
  result: 'has finished',
  failure: 'has failed',
  stopped: 'was stopped before it finished',
  terminated: 'was terminated before it finished',
};

export interface ReportingChild {
  readonly threadId: string;
  /** Of its agent. */
  readonly agent: string;
  readonly name: string | null;
}

/** A queued message to the parent. */
export function formatReport(child: ReportingChild, { kind, content, attachments }: SubagentReport): string {
  const called = child.name ? `${child.agent} "${child.name}"` : child.agent;
  const lines = [`Subagent (reference: ${child.threadId}) ${called} ${CLAUSE[kind]}${content ? ':' : '.'}`];
  if (content) lines.push('', content);
  if (attachments.length > 0) lines.push('', 'Attachments:', ...attachments);
  return lines.join('\n');
}

/** The result of a call that waited for the child; one that may be spoken to again is named. */
export function formatResult(
  { threadId }: ReportingChild,
  { kind, content }: SubagentReport,
  resumable: boolean,
): string {
  const told = kind === 'result' ? content : `The subagent ${CLAUSE[kind]}${content ? `: ${content}` : '.'}`;
  return [told, ...(resumable ? [`Reference: ${threadId}`] : [])].filter((line) => line !== '').join('\n\n');
}

/** How the parent's registry shows a child that has reported. */
export function statusAfter(kind: ReportKind): string {
  return kind === 'result' ? 'idle' : kind === 'failure' ? 'failed' : kind;
}
