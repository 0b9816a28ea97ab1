/**
 * Formats what the command knows of its worker process for Prometheus: a few lines, which need no library in this
 * process.
 */
import type { SupervisorWatch } from '../../supervisor/index.ts';

export interface Supervised {
  readonly watch: Pick<SupervisorWatch, 'phase' | 'falls'>;
  /** True if the worker process has just answered. */
  readonly answers: boolean;
  readonly stopping: boolean;
}

export function supervisorMetrics({ watch, answers, stopping }: Supervised): string {
  const ready = watch.phase === 'ready' && !stopping;
  const falls = [...watch.falls].map(([how, count]) => [`{how="${escapeLabel(how)}"}`, count] as const);
  return [
    ...metric('worker_up', 'gauge', 'Whether the worker process answers', [['', Number(answers)]]),
    ...metric('worker_ready', 'gauge', 'Whether it accepts work: it has started, and is not stopping', [
      ['', Number(ready)],
    ]),
    ...metric(
      'worker_process_falls_total',
      'counter',
      'Worker processes of this command that ended unexpectedly and were restarted',
      falls.length > 0 ? falls : [['{how="none"}', 0]],
    ),
    '',
  ].join('\n');
}

function metric(
  name: string,
  type: string,
  help: string,
  values: readonly (readonly [string, number])[],
): string[] {
  const full = `everthread_${name}`;
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} ${type}`,
    ...values.map(([labels, value]) => `${full}${labels} ${value}`),
  ];
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
