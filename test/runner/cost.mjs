/**
 * Measures what each test file costs: with `EVERTHREAD_TEST_COSTS=<file>`, a line of JSON per test file is appended to
 * that file. Seconds of wall time (`wall`, and its part `loading`) and of processor time: of this process (`own`), of
 * the Temporal server that its files share (`server`), and of all other processes that the file has started (`others`).
 * Linux only.
 */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';

const { EVERTHREAD_TEST_COSTS: output } = process.env;
/** The kernel counts in hundredths of a second. */
const TICKS = 100;

/** Starts to measure; the returned function stops and writes the line. */
export function countCost(path) {
  if (output === undefined) return () => {};
  const before = look();
  return ({ start, end, loadTestEnvironmentEnd: loaded }, tests) => {
    const after = look();
    const used = (part) => Math.round(after[part] - before[part]) / TICKS;
    const costs = {
      path,
      tests,
      wall: (end - start) / 1000,
      loading: (loaded - start) / 1000,
      own: used('own'),
      server: used('server'),
      others: used('others'),
    };
    appendFileSync(output, `${JSON.stringify(costs)}\n`);
  };
}

/** The time that an ended process has used is added to its parent's: nothing of a tree is lost, or counted twice. */
function look() {
  const own = timesOf(process.pid);
  const server = serverPid();
  const live = childrenOf(process.pid);
  const sum = (pids) => pids.reduce((total, pid) => total + timesOf(pid).all + sum(childrenOf(pid)), 0);
  return {
    own: own.self,
    server: server === undefined ? 0 : sum([server]),
    others: own.all - own.self + sum(live.filter((pid) => pid !== server)),
  };
}

let known;
/** Finds the global set-up's Temporal server: the first child of this process that is one. */
function serverPid() {
  known ??= childrenOf(process.pid).find((pid) => read(pid, 'cmdline').includes('server\0start-dev'));
  return known;
}

function timesOf(pid) {
  const stat = read(pid, 'stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
  if (childrenSystem === undefined) return { self: 0, all: 0 };
  return { self: user + system, all: user + system + childrenUser + childrenSystem };
}

function childrenOf(pid) {
  let threads = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    // It has ended.
  }
  return threads.flatMap((thread) =>
    read(pid, `task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
