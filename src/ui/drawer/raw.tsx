/** The rows of the log as they are stored, and the commands that read the same. */
import { useSignal } from '@preact/signals';
import { CopyButton } from '../parts/act-button.tsx';
import { Json } from '../parts/values.tsx';
import { Windowed } from '../parts/windowed.tsx';
import { command, curl, everthread } from '../session/commands.ts';
import { API_URL, serverFacts } from '../session/session.ts';
import { clock } from '../text.ts';
import type { TabProps } from './tab.ts';

export function RawRows({ reading }: TabProps) {
  const kind = useSignal('');
  void reading.changes.value;
  const { threadId, log } = reading;
  const rows = log.rows
    .filter(({ type }) => type.includes(kind.value))
    .map((row) => ({ key: String(row.seq), row }));
  const temporal = serverFacts.value?.temporal;
  const place = temporal?.address ? ['--address', temporal.address, '--namespace', temporal.namespace] : [];
  return (
    <>
      <p class="row">
        <input
          aria-label="Kinds of rows"
          placeholder="Kind, such as tool."
          value={kind}
          onInput={({ currentTarget }) => (kind.value = currentTarget.value)}
        />
        <CopyButton
          label="curl"
          text={curl(`${API_URL}/v1/threads/${encodeURIComponent(threadId)}/events`)}
        />
        <CopyButton label="everthread" text={everthread('threads', 'tail', threadId, '--json')} />
        <CopyButton
          label="temporal"
          text={command('temporal', 'workflow', 'show', '--workflow-id', `thread/${threadId}`, ...place)}
        />
        <CopyButton label="rows as JSON" text={() => JSON.stringify(rows.map(({ row }) => row))} />
      </p>
      <Windowed
        items={rows}
        estimate={25}
        label="Rows of the log"
        onTop={() => void reading.readEarlier()}
        render={({ row }) => (
          <details>
            <summary>
              <span class="faint number">{row.seq}</span> <bdi>{row.type}</bdi>{' '}
              <span class="faint">
                {row.step !== undefined && `step ${row.step} · `}
                {clock(row.at)}
              </span>
            </summary>
            <Json value={row} />
          </details>
        )}
      />
    </>
  );
}
