/** Takes API keys out of texts that come from providers. Known keys exactly, others by their usual forms. */

const KEY_FORMS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|hf|r8)[-_][\w*.-]{7,}[\w*]/g,
  /\bAIza[\w-]{20,}/g,
  /\beyJ[\w-]{8,}\.[\w.-]+\w/g,
  /(?<=\b(?:bearer|basic)\s+)[\w.~+/=*-]{8,}/gi,
  /(?<=[?&](?:api[-_]?key|key|token)=)[^&\s"']+/gi,
];

/** Shorter texts would tear holes into ordinary words. */
const SHORTEST_SECRET = 6;

export function redactKeys(text: string, secrets: readonly string[] = []): string {
  const known = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
  return KEY_FORMS.reduce((rest, form) => rest.replace(form, '[redacted]'), known);
}
