// Writes the tables of atom names from the Chemical Component Dictionary of the wwPDB, which is in
// the public domain (CC0 1.0): for the components below, those that people bond to most.
// `tsx scripts/component-atoms.ts FILE` reads components.cif or components.cif.gz, as the wwPDB
// publishes it; Debian has it in the package openstructure, as
// /usr/share/openstructure/components.cif.gz.
import { createReadStream, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { componentCodes } from '../sandbox/src/folding/components.ts';
import { modificationParents } from '../sandbox/src/folding/modifications.ts';

/** Components of one atom stand in src/structure/ions.ts. */
const CODES =
  // Residues and nucleotides.
  'ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL A C G U DA DC DG DT ' +
  // Modified residues, caps, D-residues and chromophores.
  'SEC PYL MSE SEP TPO PTR TYS HYP PCA CSO CSD CSS CSX OCS CME SNC SCY CAS CAF SMC YCM CGU ALY MLY MLZ M3L ' +
  'KCX HIC NEP HIP AGM DA2 2MR ORN CIR NLE NVA AIB ABA SAR MVA MLE BMT DHA DBU TPQ TRQ LLP CRO CR2 CRQ GYS ' +
  'CH6 NRQ FME IAS BFD PHD ACE NH2 NME FOR MHO OMT SME FTR HTR 4HT OTY MEN MEQ MK8 PBF P1L 3CF 4BF PHI IYR ' +
  'PF5 NAL AYA SAC CXM MHS LYZ DDE DAL DAR DAS DCY DGL DGN DHI DIL DLE DLY DPN DPR DSG DSN DTH DTR DTY DVA ' +
  'MED AZK PRK 2JH ' +
  // Modified nucleotides.
  'I DI DU 5MC 5MU PSU OMC OMG OMU A2M 1MA 2MA 6MZ 7MG M2G 2MG 1MG H2U 4SU 5BU YYG MIA T6A MA6 4OC UR3 G7M ' +
  '5CM 5HC 5FC 1CC 8OG 6OG 3DR BRU CBR DOC TLN LCG LCC LCA UFT GF2 AF2 CFZ ' +
  // Cofactors and nucleotides.
  'ATP ADP AMP ANP ACP AGS ADN GTP GDP GNP GSP GCP G2P 5GP CTP CDP C5P UTP UDP U5P UMP TTP TMP TYD CMP C2E ' +
  'APC APR NAD NAI NAP NDP NMN FAD FDA FMN RBF SAM SAH SFG COA ACO A3P PNS PN7 TPP PLP PMP BTN BTI LPA FOL ' +
  'FFO THG MTX H4B HBI B12 CNC COB PQQ MGD MTE GSH UPG GDU UD1 DCP DGT DTP DUT ' +
  // Haems, pigments, clusters and inorganic groups.
  'HEM HEC HEA HEB DHE SRM PP9 CLA CHL BCL BPH PHO F43 BLA BLR CYC PEB PUB PVN LBV SF4 FES F3S CFM CLF ICS ' +
  'FCO ALF AF3 BEF MGF VO4 WO4 MOO SO4 PO4 POP PPV CO3 BCT NO3 NH4 OXY CMO NO CYN AZI SCN ' +
  // Monosaccharides.
  'NAG NDG NGA A2G BM3 BGC GLC GAL GLA MAN BMA FUC FUL XYS XYP SIA SLB NGC KDN KDO RIB RAM RM4 ARA ARB AHR ' +
  'FUB FRU Z9N PSV ABE TYV ALL GXL GMH GCU BDP ADA GTR IDR IDS SGN GNS UAP NGS NG6 ASG NGK GCS PA1 GLP MUB ' +
  'AMU G1P G6P BG6 BGP F6P FBP M6P ' +
  // Lipids, small molecules and covalent inhibitors.
  'PLM MYR OLA STE DAO DKA CLR FAR GER RET REA SPM SPD PEE CDL LHG GOL EDO PEG ACT FMT CIT TRS BME DTT DMS ' +
  'IMD URE MPD PYR PEP AKG DFP VX 1E8 YY3 0WN MOV 4WI U5G BO2';

interface Atom {
  readonly name: string;
  /** The name before 2008. */
  readonly formerName: string;
  readonly element: string;
  readonly isLeaving: boolean;
}

interface Entry {
  readonly code: string;
  readonly isSugar: boolean;
  readonly atoms: readonly Atom[];
}

const TOKEN = /"((?:[^"]|"(?=\S))*)"|'((?:[^']|'(?=\S))*)'|(\S+)/g;
const tokens = (line: string): string[] =>
  Array.from(line.matchAll(TOKEN), ([, double, single, plain]) => double ?? single ?? plain ?? '');
const PREFIX = '_chem_comp_atom.';

function toAtom(values: Readonly<Record<string, string>>): Atom {
  const {
    atom_id: name = '',
    alt_atom_id: formerName = '',
    type_symbol: symbol = '',
    pdbx_leaving_atom_flag: flag,
  } = values;
  return { name, formerName, element: symbol.toUpperCase(), isLeaving: flag === 'Y' };
}

/** Reads the entries of these components. The dictionary writes each row of atoms on one line. */
async function* readEntries(file: string, codes: ReadonlySet<string>): AsyncGenerator<Entry> {
  const bytes = createReadStream(file);
  const input = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes;
  let [code, columns, atoms, pairs]: [string, string[], Atom[], Record<string, string>] = ['', [], [], {}];
  let isSugar = false;
  for await (const line of createInterface({ input })) {
    if (line.startsWith('data_')) {
      [code, columns, atoms, pairs] = [line.slice(5).trim(), [], [], {}];
      continue;
    }
    if (!codes.has(code)) continue;
    if (line.startsWith('_chem_comp.type ')) isSugar = /saccharide/i.test(line);
    else if (line.startsWith(PREFIX)) {
      const [column = '', value] = tokens(line.slice(PREFIX.length));
      if (value === undefined) columns.push(column);
      else pairs[column] = value;
    } else if (!line.startsWith('#') && columns.length > 0) {
      const values = tokens(line);
      if (values.length !== columns.length) throw new Error(`${code}: a row that cannot be read: ${line}`);
      atoms.push(toAtom(Object.fromEntries(columns.map((column, k) => [column, values[k] ?? '']))));
    } else if (columns.length > 0 || pairs.atom_id !== undefined) {
      // The end of the category; an entry of one atom has pairs in place of rows.
      yield { code, isSugar, atoms: pairs.atom_id === undefined ? atoms : [toAtom(pairs)] };
      [columns, pairs] = [[], {}];
    }
  }
}

/** OP1 was O1P: this is so in all nucleotides, whether their entries say it or not. */
const isPhosphate = (former: string): boolean => /^O[123]P$/.test(former);

/**
 * `NAME`, then what differs from the usual: `:ELEMENT`, `=FORMER NAME`, `*` for an atom that
 * leaves.
 */
function printAtom({ name, formerName, element, isLeaving }: Atom, names: ReadonlySet<string>): string {
  const former = formerName.replaceAll('*', "'");
  const isFormer = !names.has(former) && !isPhosphate(former) && !/\s/.test(former);
  return [
    name,
    element === name.charAt(0) ? '' : `:${element}`,
    isFormer ? `=${former}` : '',
    isLeaving ? '*' : '',
  ].join('');
}

function printEntry({ code, isSugar, atoms }: Entry): string {
  const heavy = atoms.filter(({ element }) => element !== 'H' && element !== 'D');
  const names = new Set(atoms.map(({ name }) => name));
  return [`${code}${isSugar ? '+' : ''}`, ...heavy.map((atom) => printAtom(atom, names))].join(' ');
}

const HEAD = `// Heavy atoms of chemical components in the order of their entries. Written by
// scripts/component-atoms.ts from the Chemical Component Dictionary of the wwPDB (public domain,
// CC0 1.0), as of 2022-04; see there.
`;
const SHAPE =
  'A line for each component: its code, `+` for a sugar, then its atoms. `:` stands before an element that is not the first ' +
  'letter, `=` before the name of files from before 2008, `*` behind an atom that leaves when it is bonded.';

const printTable = (name: string, lines: readonly string[]): string =>
  `${HEAD}\n/**\n * ${SHAPE.replace(/(.{1,96})(?: |$)/g, '$1\n * ').trimEnd()}/\nexport const ${name} = \`\n${lines.join('\n')}\n\`;\n`;

async function writeTables(file: string): Promise<void> {
  const inSandbox = new Set([...componentCodes(), 'HEM', ...modificationParents().map(([code]) => code)]);
  const codes = CODES.split(' ');
  const lines = new Map<string, string>();
  for await (const entry of readEntries(file, new Set([...codes, ...inSandbox])))
    lines.set(entry.code, printEntry(entry));
  const missing = [...codes, ...inSandbox].filter((code) => !lines.has(code));
  if (missing.length > 0) throw new Error(`${file} has no ${missing.join(', ')}.`);
  const write = (path: string, name: string, list: Iterable<string>): void =>
    writeFileSync(
      new URL(`../${path}`, import.meta.url),
      printTable(name, [...list].map((code) => lines.get(code) ?? '').sort()),
    );
  write('src/submission/component-atoms.ts', 'COMPONENT_ATOMS', new Set(codes));
  const isLarge = (code: string): boolean => lines.get(code)?.includes(' ', code.length + 1) === true;
  write('sandbox/src/folding/component-atoms.ts', 'COMPONENT_ATOMS', [...inSandbox].filter(isLarge));
}

const [, , file] = process.argv;
if (file === undefined) {
  process.stderr.write('Give the file components.cif or components.cif.gz of the wwPDB.\n');
  process.exitCode = 1;
} else await writeTables(file);
