/** `everthread runs report`, `replay` and `diff`: read what is stored of a run. None of them runs anything. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readRunReport } from '../../client/run-report.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { RedactionPolicy } from '../../projections/run/run-redaction.ts';
import { type DiffLine, diffRuns, RunReplay } from '../../projections/run/run-replay.ts';
import type { RunReport } from '../../projections/run/run-report.ts';
import { argument, command, idOption, negated, option } from '../command.ts';
import { showPath, storeCommand } from '../connection/find-store.ts';
import { EXIT } from '../exit.ts';
import { printDataLine, printLine, tone, write } from '../output/output.ts';
import { runEventText } from '../output/run-text.ts';
import { shorten } from '../output/terminal-text.ts';

/** How an execution is named. */
export const RUN = {
  arguments: { id: argument('id of the execution', 'execution') },
  options: { thread: idOption('thread', 'its thread, if other threads have an execution with this id') },
};

export const runReport = storeCommand({
  summary: 'write what happened in an execution as JSON',
  description:
    'Writes the report of an execution: its events, and the actions, approvals, artifacts, metrics and task derived from them. ' +
    'Fields that are named like secrets are masked.',
  arguments: RUN.arguments,
  options: {
    ...RUN.options,
    redact: negated('mask nothing'),
    out: option('<file>', 'write to this file (default: standard output)'),
  },
  async read(store, { id, thread: threadId, out, redact }) {
    const redaction = redact ? new RedactionPolicy() : undefined;
    const text = `${JSON.stringify(await readRunReport(store, id, { threadId, redaction }), null, 2)}\n`;
    if (out === undefined) {
      write(text);
      return undefined;
    }
    writeFileSync(out, text);
    return {
      json: { run: id, file: out, bytes: Buffer.byteLength(text) },
      note: `Wrote the report of run ${id} to ${showPath(out)}.`,
    };
  },
});

export const runReplay = command({
  summary: 'show the events of a recorded report',
  description:
    'Shows the events of a report, as `runs report` has written it. With --json one event per line. Runs nothing.',
  arguments: { file: argument('the report') },
  options: { type: option('<type>', 'only events of this type') },
  async run({ file, json, type }) {
    for (const event of new RunReplay(readReport(file)).iterEvents(type)) {
      if (json) printDataLine(event);
      else printLine(runEventText(event));
    }
    return undefined;
  },
});

export const runDiff = command({
  summary: 'compare two recorded reports',
  description:
    'Compares the events of two reports by what is stable between runs: types, severities, summaries. ' +
    'Exit code 0 if they are the same, else 1. With --json: { same, lines }.',
  arguments: { first: argument('a report'), second: argument('another one') },
  async run({ first, second }) {
    const lines = diffRuns(readReport(first), readReport(second));
    const same = lines.every((line) => line.in === 'both');
    const shown = same
      ? { note: 'Both runs have the same events.' }
      : { text: lines.map(diffText).join('\n') };
    return { json: { same, lines }, ...shown, exit: same ? EXIT.done : EXIT.failed };
  },
});

function diffText({ in: where, line }: DiffLine): string {
  const text = shorten(line, 200);
  if (where === 'both') return tone('dim', `  ${text}`);
  return where === 'first' ? tone('red', `- ${text}`) : tone('green', `+ ${text}`);
}

function readReport(file: string): RunReport {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunReport;
  } catch (error) {
    throw new RuntimeError('InvalidValue', `No report can be read from ${file}: ${errorMessage(error)}.`);
  }
}
