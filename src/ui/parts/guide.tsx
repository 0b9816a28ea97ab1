/** What to do next, for whoever sees nothing: no token, a token that may not read, no threads. */
import { useSignal } from '@preact/signals';
import { API_URL, codeOf, messageOf, type Session, useToken } from '../session/session.ts';
import { CopyButton } from './act-button.tsx';

function Steps({ lines }: { readonly lines: readonly (readonly [words: string, command?: string])[] }) {
  return (
    <ol class="steps">
      {lines.map(([words, command]) => (
        <li key={words}>
          {words}
          {command !== undefined && (
            <div class="command">
              <code>{command}</code>
              <CopyButton text={command} label="Copy" />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}

export function TokenForm({ refused }: { readonly refused: Extract<Session, { kind: 'refused' }> }) {
  const typed = useSignal('');
  const { code, why, hasToken } = refused;
  const needsOther = code === 'Unauthorized' || code === 'Forbidden';
  const title = !needsOther
    ? 'The server cannot be used now'
    : hasToken
      ? 'This token may not read threads'
      : 'This server needs a token';
  return (
    <main class="guide">
      <h1>{title}</h1>
      <p class="faint">
        <bdi>{why}</bdi>
      </p>
      {needsOther && (
        <Steps
          lines={[
            ['Where the server runs, make a token:', 'everthread tokens create --scope read write answer'],
            ['Put it into the field below. It stays in this tab, and never in an address.'],
            ['Somebody else runs the server? Ask them for a token with the scope “read”.'],
          ]}
        />
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void useToken(typed.value.trim() || null);
        }}
      >
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            name="token"
            value={typed}
            onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
          />
        </label>
        <button type="submit" class="main">
          {typed.value === '' ? 'Try without' : 'Use it'}
        </button>
      </form>
    </main>
  );
}

export function NoThreads() {
  return (
    <section class="guide">
      <h2>No threads yet</h2>
      <Steps
        lines={[
          ['See which agents the project has:', `curl ${API_URL}/v1/agents`],
          ['Start a thread of one:', 'everthread threads start AGENT "Hello"'],
          ['It appears here at once. Nothing happens in it? See what is missing:', 'everthread doctor'],
        ]}
      />
    </section>
  );
}

export function Refusal({ error }: { readonly error: unknown }) {
  return (
    <div class="guide" role="alert">
      <p class="line failure">
        <bdi>
          {codeOf(error)} {messageOf(error)}
        </bdi>
      </p>
      <p>
        <a href="#/threads">All threads</a>
      </p>
    </div>
  );
}
