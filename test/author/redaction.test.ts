/** Secrets taken out of texts (definitions §16). */
import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../src/store/env/redaction.ts';

const secret = (value: string, name = 'KEY') => ({ name, value });
const PEM = '-----BEGIN KEY-----\nab"c\\d/e+f=\n-----END KEY-----\n';

describe('[definitions 16] a secret is redacted from a text', () => {
  const json = (value: unknown) => JSON.stringify(value);
  it.each<[string, (value: string) => string]>([
    ['as it is', (value) => `<${value}>`],
    ['as JSON', (value) => json({ a: [`<${value}>`] })],
    ['as JSON within JSON', (value) => json({ a: json({ b: value }) })],
    ['in a URL', (value) => `https://x/?k=${encodeURIComponent(value)}&l=1`],
    ['in a form', (value) => new URLSearchParams({ k: value }).toString()],
    ['in base64', (value) => `Basic ${Buffer.from(value).toString('base64')}`],
    ['in base64 behind a name', (value) => Buffer.from(`user:${value}`).toString('base64')],
    ['in base64 amid other text', (value) => Buffer.from(`{"k":"${value}"}, and so on`).toString('base64')],
    ['in base64 for URLs', (value) => Buffer.from(`a${value}`).toString('base64url')],
  ])('%s', (_form, write) => {
    for (const value of ['swordfish 4711 ü', PEM, 'a+b/c?d&e=f%20~ÿþ']) {
      const text = write(value);
      const redacted = createRedactor([secret(value)])(text);
      expect(redacted).toContain('[secret KEY]');
      for (const form of [value, json(value).slice(1, -1), encodeURIComponent(value)]) {
        expect(redacted).not.toContain(form);
      }
      // In base64, at most the digits remain that the secret shares with its neighbours.
      expect(redacted.length).toBeLessThan(text.length - value.length / 2 + '[secret KEY]'.length);
    }
  });

  it('at any position, and the rest is unchanged', () => {
    const redact = createRedactor([secret('abcd')]);
    expect(redact('abcd, abcdabcd; abc d')).toBe('[secret KEY], [secret KEY][secret KEY]; abc d');
    expect(redact('')).toBe('');
    expect(redact('nothing')).toBe('nothing');
  });

  it('under the name of the longer of two nested secrets, and completely if two overlap', () => {
    const redact = createRedactor([
      secret('pass', 'SHORT'),
      secret('password1', 'LONG'),
      secret('word12', 'NEXT'),
    ]);
    expect(redact('password1')).toBe('[secret LONG]');
    expect(redact('pass it')).toBe('[secret SHORT] it');
    expect(redact('<password12>')).toBe('<[secret LONG]>');
    expect(createRedactor([secret('aaaa')])('aaaaaaa')).toBe('[secret KEY]');
  });

  it('without searching the inserted names', () => {
    const redact = createRedactor([secret('secret', 'A'), secret('[secret', 'B'), secret('KEY]', 'KEY')]);
    expect(redact('my secret')).toBe('my [secret A]');
  });

  it('but not if it is shorter than four characters, or a JSON keyword', () => {
    const redact = createRedactor(['', 'a', 'abc', 'true', 'false', 'null'].map((value) => secret(value)));
    const text = '{"a":true,"b":null,"abc":false}';
    expect(redact(text)).toBe(text);
  });

  it('in bounded time for many large texts and secrets', () => {
    const secrets = Array.from({ length: 50 }, (_, n) => secret(`secret-${n}-${'x'.repeat(200)}`, `K${n}`));
    const text = `${'lorem ipsum '.repeat(100_000)}${secrets[49]?.value}`;
    expect(createRedactor(secrets)(text).endsWith('[secret K49]')).toBe(true);
  });
});
