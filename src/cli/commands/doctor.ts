/** `everthread doctor`: checks that everything agents need is there, and names the remedy if something is not. */

import { escapeControls } from '../../core/value/shown-text.ts';
import { command, TASK_QUEUE } from '../command.ts';
import type { Check } from '../doctor/check.ts';
import { EXIT } from '../exit.ts';
import { dimNote, note, printJson, printLine, type Tone, tone } from '../output/output.ts';

export const doctor = command({
  description:
    'Checks Node, the project, its store, keys of models, the wall of the sandbox, the Temporal server with namespace, search attributes, ' +
    'workers, how fast a step is, and, if OpenTelemetry is set up, what its endpoint answers to one span. Changes nothing, apart from that and one short workflow for the measurement. Exit code 1 if a check fails. ' +
    'With --json: { ok, checks: [{ name, status, message, next }] }.',
  options: TASK_QUEUE,
  async run({ project: projectDir, taskQueue, json }) {
    const { examine } = await import('../doctor/examine.ts');
    const checks: Check[] = [];
    await examine({
      projectDir,
      taskQueue,
      report(check) {
        checks.push(check);
        if (!json) printCheck(check);
      },
    });
    const failed = checks.filter(({ status }) => status === 'fail').length;
    if (json) printJson({ ok: failed === 0, checks });
    else if (failed > 0) note(`\n${failed} ${failed === 1 ? 'check' : 'checks'} failed.`);
    else dimNote('\nNo check failed.');
    return failed > 0 ? EXIT.failed : EXIT.done;
  },
});

const TONES: Record<Check['status'], Tone> = { ok: 'green', warn: 'yellow', fail: 'red' };

function printCheck({ name, status, message, next }: Check): void {
  const indent = ' '.repeat(6);
  printLine(
    `${tone(TONES[status], status.padEnd(6))}${tone('bold', name)}: ${escapeControls(message).replaceAll('\n', `\n${indent}`)}`,
  );
  if (next !== undefined) printLine(`${indent}${tone('dim', next)}`);
}
