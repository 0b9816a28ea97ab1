/** `everthread runs report`, `replay` and `diff`: read what is stored of a run. None of them runs anything. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { readRunReport } from '../../client/run-report.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { RedactionPolicy } from '../../projections/run/run-redaction.ts';
import { type DiffLine, diffRuns, RunReplay } from '../../projections/run/run-replay.ts';
import type { RunReport } from '../../projections/run/run-report.ts';
import { addCommon, type Cli, type CommonOptions, withExitCode } from '../command.ts';
import { showPath, withStore } from '../connection/find-store.ts';
import { note, printDataLine, printJson, printLine, tone, write } from '../output/output.ts';
import { runEventText } from '../output/run-text.ts';
import { shorten } from '../output/terminal-text.ts';

interface ReportOptions extends CommonOptions {
  readonly thread?: string;
  readonly out?: string;
  readonly redact: boolean;
}

export function addRunReport(runs: Command, cli: Cli): void {
  const command = runs
    .command('report')
    .summary('write what happened in an execution as JSON')
    .description(
      'Writes the report of an execution: its events, and the actions, approvals, artifacts, metrics and task derived from them. ' +
        'Fields that are named like secrets are masked.',
    )
    .argument('<id>', 'id of the execution')
    .option('--thread <id>', 'its thread, if other threads have an execution with this id')
    .option('--no-redact', 'mask nothing')
    .option('--out <file>', 'write to this file (default: standard output)');
  addCommon(command).action(withExitCode(cli, reportRun));
}

async function reportRun(id: string, options: ReportOptions): Promise<undefined> {
  const { project, json, thread: threadId, out, redact } = options;
  const redaction = redact ? new RedactionPolicy() : undefined;
  const report = await withStore(project, (store) => readRunReport(store, id, { threadId, redaction }));
  const text = `${JSON.stringify(report, null, 2)}\n`;
  if (out === undefined) {
    write(text);
    return undefined;
  }
  writeFileSync(out, text);
  if (json) printJson({ run: id, file: out, bytes: Buffer.byteLength(text) });
  else note(`Wrote the report of run ${id} to ${showPath(out)}.`);
  return undefined;
}

export function addRunReplay(runs: Command, cli: Cli): void {
  const command = runs
    .command('replay')
    .summary('show the events of a recorded report')
    .description(
      'Shows the events of a report, as `runs report` has written it. With --json one event per line. Runs nothing.',
    )
    .argument('<file>', 'the report')
    .option('--type <type>', 'only events of this type');
  addCommon(command).action(withExitCode(cli, replayReport));
}

async function replayReport(
  file: string,
  { json, type }: CommonOptions & { readonly type?: string },
): Promise<undefined> {
  for (const event of new RunReplay(readReport(file)).iterEvents(type)) {
    if (json) printDataLine(event);
    else printLine(runEventText(event));
  }
}

export function addRunDiff(runs: Command, cli: Cli): void {
  const command = runs
    .command('diff')
    .summary('compare two recorded reports')
    .description(
      'Compares the events of two reports by what is stable between runs: types, severities, summaries. ' +
        'Exit code 0 if they are the same, else 1. With --json: { same, lines }.',
    )
    .argument('<first>', 'a report')
    .argument('<second>', 'another one');
  addCommon(command).action(withExitCode(cli, diffReports));
}

async function diffReports(first: string, second: string, { json }: CommonOptions): Promise<number> {
  const lines = diffRuns(readReport(first), readReport(second));
  const same = lines.every((line) => line.in === 'both');
  if (json) printJson({ same, lines });
  else if (same) note('Both runs have the same events.');
  else for (const line of lines) printLine(diffText(line));
  return same ? 0 : 1;
}

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
