/** Secrets are found in every form in which they may be written, in time linear in the text (docs/operations.md). */
import { describe, expect, it } from '@jest/globals';
import { buildRedactor } from '../../src/core/redaction/redactor.ts';

const redactorOf = (...values: string[]) =>
  buildRedactor(values.map((value, n) => ({ value, mark: `[${String.fromCharCode(65 + n)}]` })));
const bytes = (text: string) => new TextEncoder().encode(text);

const PEM = `-----BEGIN KEY-----\n${['ab"c\\d/e+f=<&>\'', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'x/y+z=='].join('\n')}\n-----END KEY-----\n`;
const VALUES = [
  'swordfish 4711 ü',
  PEM,
  'a+b/c?d&e=f%20~ÿþ',
  `p"w\\n'<€😀>&amp;%41(1)!*`,
  'k\u0000e\u001by\u2028!x',
];

const json = (text: string) => JSON.stringify(text).slice(1, -1);
const each = (text: string, write: (char: string) => string) => [...text].map(write).join('');
const units = (text: string, write: (code: number) => string) =>
  text
    .split('')
    .map((unit) => write(unit.charCodeAt(0)))
    .join('');
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const wrap = (text: string, width: number, end: string) =>
  text.replace(new RegExp(`(.{${width}})`, 'g'), `$1${end}`);
const percentAll = (text: string) => [...bytes(text)].map((byte) => `%${hex(byte, 2)}`).join('');
/** Like Python's json.dumps: ASCII only. */
const asciiJson = (text: string) =>
  json(text).replace(/[^ -~]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`);
const quote = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${hex(sign.charCodeAt(0), 2).toUpperCase()}`);
/** Like Python's repr(text). */
const repr = (text: string) =>
  each(text, (sign) => {
    if (sign === '\\' || sign === "'") return `\\${sign}`;
    if (sign === '\n') return '\\n';
    return sign < ' ' ? `\\x${hex(sign.charCodeAt(0), 2)}` : sign === '\u2028' ? '\\u2028' : sign;
  });
const html = (text: string) =>
  text.replace(
    /[&<>"']/g,
    (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[sign] ?? '',
  );

/** The rows of the table in docs/operations.md. */
const FORMS: [string, (value: string) => string][] = [
  ['as it is', (value) => value],
  ['in JSON', json],
  ['in JSON within JSON, four levels deep', (value) => json(json(json(json(value))))],
  ['in JSON that is ASCII alone, as of Python', asciiJson],
  ['in JSON with its slashes escaped, as of PHP', (value) => json(value).replaceAll('/', '\\/')],
  [
    'in JSON with every character as \\uXXXX, lower case',
    (value) => units(value, (code) => `\\u${hex(code, 4)}`),
  ],
  [
    'in JSON with every character as \\uXXXX, upper case',
    (value) => units(value, (code) => `\\u${hex(code, 4).toUpperCase()}`),
  ],
  [
    'in JSON with any of its characters as \\uXXXX',
    (value) =>
      each(value, (sign) =>
        (sign.codePointAt(0) ?? 0) % 3 === 0 ? units(sign, (code) => `\\u${hex(code, 4)}`) : json(sign),
      ),
  ],
  [
    'in JSON as Go and .NET write it, with \\u0026, \\u003c, \\u003e and \\u0027',
    (value) => json(value).replace(/[&<>']/g, (sign) => `\\u${hex(sign.charCodeAt(0), 4)}`),
  ],
  [
    'in JavaScript with code points in braces',
    (value) => each(value, (sign) => `\\u{${hex(sign.codePointAt(0) ?? 0, 1)}}`),
  ],
  ['with encodeURIComponent', encodeURIComponent],
  ['with encodeURI', encodeURI],
  ['quoted as RFC 3986 asks', quote],
  ['quoted as urllib.parse.quote does', (value) => quote(value).replaceAll('%2F', '/')],
  ['quoted as urllib.parse.quote_plus does', (value) => quote(value).replaceAll('%20', '+')],
  ['in a form', (value) => new URLSearchParams({ k: value }).toString().slice(2)],
  ['with lower-case percent codes', (value) => quote(value).replace(/%../g, (code) => code.toLowerCase())],
  ['with every byte as a percent code', percentAll],
  ['quoted twice', (value) => quote(quote(value))],
  ['as Python shows a text', repr],
  [
    'as Python shows bytes',
    (value) =>
      each(repr(value), (sign) =>
        sign > '~' ? [...bytes(sign)].map((byte) => `\\x${hex(byte, 2)}`).join('') : sign,
      ).replace('\\u2028', '\\xe2\\x80\\xa8'),
  ],
  [
    'as Python writes ASCII, wide characters included',
    (value) =>
      each(repr(value), (sign) => {
        const code = sign.codePointAt(0) ?? 0;
        return code < 127
          ? sign
          : code < 256
            ? `\\x${hex(code, 2)}`
            : code < 65536
              ? `\\u${hex(code, 4)}`
              : `\\U${hex(code, 8)}`;
      }),
  ],
  ['in HTML', html],
  ['in HTML with decimal codes', (value) => each(value, (sign) => `&#${sign.codePointAt(0)};`)],
  [
    'in HTML with hexadecimal codes',
    (value) => each(value, (sign) => `&#x${hex(sign.codePointAt(0) ?? 0, 2)};`),
  ],
  ['in JSON within a URL', (value) => encodeURIComponent(json(value))],
  ['in a URL within HTML within JSON', (value) => json(html(encodeURI(value)))],
  ['in base64', base64],
  ['in base64 for URLs', (value) => Buffer.from(value).toString('base64url')],
  ['in base64 behind a name and a colon, as of Basic', (value) => base64(`user:${value}`)],
  ['in base64 amid other text', (value) => base64(`{"k":"${value}"}, and so on`)],
  ['in base64 with JSON around it', (value) => json(base64(`ab${value}`)).replaceAll('/', '\\/')],
  ['in base64 within a URL', (value) => encodeURIComponent(base64(`a${value}`))],
  ['in base64 in lines of 76 characters', (value) => wrap(base64(`${'x'.repeat(50)}${value}`), 76, '\n')],
  [
    'in base64 in lines of 64 characters that end with CRLF',
    (value) => wrap(base64(`${'x'.repeat(40)}${value}`), 64, '\r\n'),
  ],
  ['in base64 in lines, in JSON', (value) => json(wrap(base64(`${'x'.repeat(50)}${value}`), 76, '\r\n'))],
  ['in hex', (value) => Buffer.from(value).toString('hex')],
  ['in upper-case hex', (value) => Buffer.from(`a${value}`).toString('hex').toUpperCase()],
];

describe('[definitions 16] a secret is redacted from a text', () => {
  it.each(FORMS)('%s', (_form, write) => {
    for (const value of VALUES) {
      const { redact } = redactorOf(value);
      for (const [before, after] of [
        ['<', '>'],
        ['key: "', '" and more'],
        ['', ''],
      ]) {
        const text = `${before}${write(value)}${after}`;
        const redacted = redact(text);
        expect(redacted).toContain('[A]');
        // The digits that encode what is beside the secret remain.
        expect(redacted.replace('[A]', '').length).toBeLessThan(text.length - write(value).length + 80);
        for (const known of [write(value), value, json(value), encodeURIComponent(value)]) {
          expect(redacted).not.toContain(known);
        }
      }
    }
  });

  it('in lines: each line of at least sixteen characters, and all of it without line breaks', () => {
    const { redact } = redactorOf(PEM);
    expect(redact('1: -----BEGIN KEY-----\n2: ab"c\\d/e+f=<&>\'\n3: MIIEvQIBADANBgkqhkiG9w0BAQEFAASC')).toBe(
      '1: -----BEGIN KEY-----\n2: ab"c\\d/e+f=<&>\'\n3: [A]',
    );
    expect(redact(`<${PEM.replaceAll('\n', ' ')}>`)).toBe('<[A] >');
    expect(redact(`<${PEM.replaceAll('\n', '')}>`)).toBe('<[A]>');
    expect(redact(`<${PEM.replaceAll('\n', '\r\n')}>`)).toBe('<[A]\r\n>');
    expect(redact(json(PEM).replaceAll('\\n', '\\n  '))).toBe('[A]\\n  ');
  });

  it('in base64 if it is short and stands alone, not if other data resembles it', () => {
    const { redact } = redactorOf('abcd');
    expect(redact(`<${base64('abcd')}>`)).toBe('<[A]>');
    expect(redact('Basic YWJjZA')).toBe('Basic [A]');
    expect(redact(`key YWJjZGVm`)).toBe('key YWJjZGVm');
    expect(redact('61626364 6162636465')).toBe('[A] 6162636465');
  });

  it('after an escape sequence that could include its first character', () => {
    const { redact } = redactorOf('nabcdef');
    expect(redact('C:\\nabcdef')).toBe('C:\\[A]');
  });

  it('while ordinary text next to it stays, escapes included', () => {
    const { redact } = redactorOf('abcd&efgh');
    const text = 'a%20b &amp; "\\u00e9" \\\\ abcd&efg YWJjZ 6162 \ud800 …';
    expect(redact(text)).toBe(text);
    expect(redact(`%41 abcd%26efgh &lt;`)).toBe('%41 [A] &lt;');
    expect(redact('€😀abcd&amp;efgh😀')).toBe('€😀[A]😀');
  });

  it('at the end of a truncated text, if at least eight of its first characters are left', () => {
    const value = `${'k'.repeat(300)}ey"and&more`;
    const { redact } = redactorOf(value, 'other secret "1"');
    for (const write of [(text: string) => text, json, encodeURIComponent, base64]) {
      for (const length of [12, 40, 280, 303, 309]) {
        expect(redact(`error: ${write(value).slice(0, length)}…`)).toMatch(/^error: \[A\]\S{0,8}…$/);
      }
    }
    expect(redact('error: other secret \\u00…')).toBe('error: [B]\\u00…');
    expect(redact('error: other s…')).toBe('error: other s…');
    expect(redact('error: other secret')).toBe('error: other secret');
  });
});
