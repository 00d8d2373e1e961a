/** Set-up is plain JavaScript, because it runs before any compiler is there; tests load it untyped. */
export const load = (name: string) => import(`../../scripts/setup/${name}.mjs`);
