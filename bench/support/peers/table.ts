/** The figures as tables of Markdown, and their place in docs/benchmarks.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CancelFigures, CrowdFigures, KillFigures, LongFigures, Plan, ShortFigures } from './measure.ts';
import type { Row } from './rows.ts';

export interface Measured {
  readonly row: Row;
  /** One for each round. */
  readonly short: ShortFigures[];
  long?: LongFigures;
  crowd?: CrowdFigures;
  kills?: KillFigures;
  cancel?: CancelFigures;
  /** Why the row has no figures, or not all. */
  error?: string;
}

export interface Made {
  readonly at: string;
  readonly machine: string;
  readonly rounds: number;
  readonly plan: Plan;
  /** Milliseconds of the tool alone. */
  readonly toolMs: number;
  /** Load of the last minute before and after. */
  readonly load: readonly number[];
  readonly minutes: number;
  readonly versions: Readonly<Record<string, string>>;
}

const NONE = '–';

export function toMarkdown(all: readonly Measured[], made: Made): string {
  const { at, machine, rounds, plan, toolMs, load, minutes, versions } = made;
  const shown = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const failed = all.filter(({ error }) => error !== undefined);
  return [
    `Made ${at} on ${machine}, in ${minutes.toFixed(0)} minutes, ${rounds} rounds; load ${load.map((value) => value.toFixed(1)).join(' before, ')} after. The tool alone takes ${toolMs.toFixed(1)} ms.`,
    `Versions: ${shown.join(', ')}.`,
    '### One thread',
    table(
      [
        '',
        'model and tool are called',
        'waits for the disk',
        'ms a step, 50 steps',
        `ms a step at step ${plan.long.toLocaleString('en')}`,
        'more a step: µs',
        'KB a step on disk',
      ],
      all.map(({ row, short, long }) => [
        row.name,
        row.calls,
        row.disk,
        ofRounds(short.map(({ stepMs }) => stepMs)),
        lastStep(long),
        // Over a few steps it would be noise.
        long && long.steps >= 200 ? long.slopeUs.toFixed(1) : NONE,
        long ? (long.bytesPerStep / 1000).toFixed(1) : NONE,
      ]),
    ),
    '### Many threads at once',
    table(
      [
        '',
        'steps a second, 16 threads',
        `steps a second, ${plan.crowd} threads`,
        'MB of the worker, at most',
        'processor ms a step: worker',
        'servers',
      ],
      all.map(({ row, short, crowd }) => [
        row.name,
        ofRounds(
          short.map(({ stepsPerSecond }) => stepsPerSecond),
          0,
        ),
        ...(crowd
          ? [
              `${crowd.stepsPerSecond.toFixed(0)}${crowd.cut ? ' (cut)' : ''}`,
              crowd.rssMb.toFixed(0),
              crowd.workerMs.toFixed(1),
              crowd.serverMs > 0 ? crowd.serverMs.toFixed(1) : NONE,
            ]
          : [NONE, NONE, NONE, NONE]),
      ]),
    ),
    '### A worker killed, a run cancelled',
    table(
      [
        '',
        'who continues',
        's to the next effect',
        's until all had ended',
        'doubled',
        'lost',
        'of effects',
        'cancel: ms until reported',
        'ms until the model call is aborted',
      ],
      all
        .filter(({ kills }) => kills !== undefined)
        .map(({ row, kills, cancel }) => [
          row.name,
          row.resumes,
          ofRounds(kills?.firstSeconds ?? []),
          untilAll(kills),
          String(kills?.doubled),
          String(kills?.lost),
          String(kills?.effects),
          cancel?.reportedMs?.toFixed(0) ?? 'not within 15 s',
          cancel?.abortedMs?.toFixed(0) ?? 'not within 15 s',
        ]),
    ),
    ...(failed.length === 0
      ? []
      : [
          '### Not measured',
          failed.map(({ row, error = '' }) => `- ${row.name}: ${error.split('\n')[0]}`).join('\n'),
        ]),
  ].join('\n\n');
}

function lastStep(long: LongFigures | undefined): string {
  if (!long) return NONE;
  const { lastStepMs, steps, planned, failure } = long;
  if (steps >= planned) return lastStepMs.toFixed(1);
  return `${lastStepMs.toFixed(1)} at step ${steps}, ${failure ? `where it failed: ${failure.slice(0, 80)}` : 'where it was cut'}`;
}

function untilAll(kills: KillFigures | undefined): string {
  const { allSeconds = [], stuck = 0, refusal } = kills ?? {};
  const never = stuck > 0 ? `; ${stuck} threads never${refusal ? `: ${refusal}` : ''}` : '';
  return `${ofRounds(allSeconds)}${never}`;
}

/** The median, which of two is their mean, and the least and the most in parentheses. */
function ofRounds(values: readonly number[], digits = 1): string {
  if (values.length === 0) return NONE;
  if (values.length === 1) return (values[0] as number).toFixed(digits);
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] as number;
  const last = sorted.length - 1;
  const middle = (at(Math.floor(last / 2)) + at(Math.ceil(last / 2))) / 2;
  return `${middle.toFixed(digits)} (${at(0).toFixed(digits)}–${at(last).toFixed(digits)})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'benchmarks.md');
const [BEGIN, END] = ['<!-- figures of bench/peers.ts: begin -->', '<!-- figures of bench/peers.ts: end -->'];

/** Puts the tables between the two markers of docs/benchmarks.md. */
export function writePage(markdown: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin)
    throw new Error(`${PAGE} has not both markers, ${BEGIN} and ${END}: add them.`);
  writeFileSync(PAGE, `${page.slice(0, begin + BEGIN.length)}\n\n${markdown}\n\n${page.slice(end)}`);
}
