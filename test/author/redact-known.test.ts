/** Redaction of whole values: what code of a project writes besides its result. */
import { describe, expect, it } from '@jest/globals';
import { redactAttachment, redactIn } from '../../src/author/state/env.ts';
import { createRedactor } from '../../src/store/env/redaction.ts';

const redact = createRedactor([{ name: 'KEY', value: 'swordfish' }]);

describe('hiding secrets in a value', () => {
  it('reaches texts at any depth, keys as well', () => {
    const value = { a: ['swordfish', 1, null, { b: 'my swordfish' }], swordfish: true };
    expect(redactIn(value, redact)).toEqual({
      a: ['[secret KEY]', 1, null, { b: 'my [secret KEY]' }],
      '[secret KEY]': true,
    });
  });

  it('does not change the given value', () => {
    const value = { a: ['swordfish'] };
    redactIn(value, redact);
    expect(value).toEqual({ a: ['swordfish'] });
  });

  it('preserves cycles and shared parts', () => {
    const shared = { text: 'swordfish' };
    let wide: unknown = shared;
    for (let n = 0; n < 60; n++) wide = [wide, wide];
    const cyclic: Record<string, unknown> = { wide };
    cyclic.self = cyclic;
    const hidden = redactIn(cyclic, redact) as Record<string, unknown>;
    expect(hidden.self).toBe(hidden);
    let deep = hidden.wide;
    while (Array.isArray(deep)) deep = deep[0];
    expect(deep).toEqual({ text: '[secret KEY]' });
  });

  it('leaves values that are not plain data to later validation', () => {
    const when = new Date(0);
    expect(redactIn({ when }, redact)).toEqual({ when });
    expect(redactIn(undefined, redact)).toBeUndefined();
  });

  it('creates no prototype from a key', () => {
    const hidden = redactIn(JSON.parse('{"__proto__": {"admin": true}}'), redact) as object;
    expect(Object.getPrototypeOf(hidden)).toBe(Object.prototype);
    expect(Object.hasOwn(hidden, '__proto__')).toBe(true);
  });

  it('redacts the name and description of an attachment, and not its content', () => {
    const data = Buffer.from('swordfish').toString('base64');
    const given = { name: 'swordfish.txt', mimeType: 'text/plain', data, description: 'the swordfish' };
    expect(redactAttachment(given, redact)).toEqual({
      ...given,
      name: '[secret KEY].txt',
      description: 'the [secret KEY]',
    });
    expect(redactAttachment('/attachments/a.txt', redact)).toBe('/attachments/a.txt');
  });
});
