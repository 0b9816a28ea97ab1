/** Text and JSON of others: shown as text only, and long ones in part until somebody asks for the rest. */
import { useSignal } from '@preact/signals';
import { bytes, pretty, shorten } from '../text.ts';

/** Characters that are shown at first: a browser takes long to lay out a text of megabytes. */
const SHOWN = 20_000;

export function LongText({ text, name = 'words' }: { readonly text: string; readonly name?: string }) {
  const all = useSignal(false);
  const cut = text.length > SHOWN && !all.value;
  return (
    <>
      <div class={name} dir="auto">
        {cut ? text.slice(0, SHOWN) : text}
      </div>
      {cut && (
        <button type="button" class="quiet" onClick={() => (all.value = true)}>
          Show all ({bytes(text.length)})
        </button>
      )}
    </>
  );
}

export function Json({ value }: { readonly value: unknown }) {
  return <LongText text={pretty(value)} name="json" />;
}

/** A line that unfolds to the whole value. */
export function Folded({
  label,
  value,
  open = false,
}: {
  readonly label: string;
  readonly value: unknown;
  readonly open?: boolean;
}) {
  const shown = useSignal(open);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <details open={open} onToggle={({ currentTarget }) => (shown.value = currentTarget.open)}>
      <summary>
        {label} <bdi class="faint">{shown.value ? '' : shorten(text ?? '', 120)}</bdi>
      </summary>
      {shown.value && <Json value={value} />}
    </details>
  );
}

/** The fields of an object as rows; anything else as JSON. */
export function Fields({ value }: { readonly value: unknown }) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return <Json value={value} />;
  const fields = Object.entries(value);
  if (fields.length === 0) return <p class="faint">No arguments.</p>;
  return (
    <table class="fields">
      <tbody>
        {fields.map(([name, each]) => (
          <tr key={name}>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td>
              <LongText text={pretty(each)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
