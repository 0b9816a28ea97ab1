/** A family of threads for display: a heading, and a line for each thread, below its parent. */
import type { FamilyMember } from '../../store/family/family-record.ts';
import { tableLines, tone } from './output.ts';
import { shorten } from './terminal-text.ts';
import { statusTone } from './thread-text.ts';

const HEADINGS = ['AGENT', 'STATUS', 'STEPS', 'STOPPED BY', 'REFERENCE'];
const NAME_LENGTH = 40;

/** Returns a line for each thread, after that of its parent, in the store's order. */
export function treeLines(family: readonly FamilyMember[]): string[] {
  const branches = drawBranches(family.map(({ depth }) => depth));
  const rows = family.map((member, index) => toRow(member, branches[index] ?? ''));
  const [heading = '', ...lines] = tableLines([HEADINGS, ...rows]);
  const at = heading.indexOf('STATUS');
  return [tone('dim', heading), ...family.map((member, index) => colour(lines[index] ?? '', at, member))];
}

function toRow({ thread, child }: FamilyMember, branch: string): string[] {
  const name = child?.name ?? thread.name;
  const agent = shorten(thread.agent, NAME_LENGTH);
  return [
    branch + (name ? `${agent} "${shorten(name, NAME_LENGTH)}"` : agent),
    statusOf(thread.status, child?.status),
    String(thread.lastStep),
    shorten(thread.stopReason ?? '-', NAME_LENGTH),
    thread.id,
  ];
}

const THREAD_STATUSES = ['running', 'idle', 'failed', 'stopped', 'terminated'];

/** Returns the status, followed by the status text that a child has set, if any. */
function statusOf(status: string, shownStatus = status): string {
  return THREAD_STATUSES.includes(shownStatus) ? status : `${status} (${shorten(shownStatus, NAME_LENGTH)})`;
}

/** Colours the status by its column: a name or a reason may equal a status. */
function colour(line: string, at: number, { thread: { status } }: FamilyMember): string {
  return line.slice(0, at) + tone(statusTone(status), status) + line.slice(at + status.length);
}

/** Returns for each node, parents first, the prefix of its name: `│  ├─ `, `   └─ `; empty for the root. */
export function drawBranches(depths: readonly number[]): string[] {
  const drawn: string[] = [];
  /** By depth: true if another node follows below, on the same branch. */
  const goesOn: boolean[] = [];
  for (const depth of [...depths].reverse()) {
    const above = Array.from({ length: Math.max(0, depth - 1) }, (_, level) =>
      goesOn[level + 1] ? '│  ' : '   ',
    );
    drawn.push(depth === 0 ? '' : above.join('') + (goesOn[depth] ? '├─ ' : '└─ '));
    goesOn.length = depth;
    goesOn[depth] = true;
  }
  return drawn.reverse();
}
