// The reference proteins: real sequences and facts of UniProtKB that found the families everybody
// looks up first. Their MD5s are checked while a universe grows.
import type { Clade } from './organisms.ts';

/** One well-known protein. Domains are 0-based, half-open. */
export interface ReferenceProtein {
  readonly accession: string;
  readonly entryName: string;
  readonly gene: string;
  readonly organism: string;
  readonly name: string;
  readonly clade: Clade;
  readonly function: string;
  readonly domains: readonly (readonly [pfam: string, start: number, end: number])[];
  readonly md5: string;
  readonly sequence: string;
  /**
   * A chain that is cut out of it and is a protein of the universe by itself; 0-based, half-open.
   */
  readonly mature?: { readonly name: string; readonly start: number; readonly end: number };
}

const UBIQUITIN = 'MQIFVKTLTGKTITLEVEPSDTIENVKAKIQDKEGIPPDQQRLIFAGKQLEDGRTLSDYNIQKESTLHLVLRLRGG';

/** The proteins, in the order in which their families are grown. */
export const REFERENCE_PROTEINS: readonly ReferenceProtein[] = [
  {
    accession: 'P62736',
    entryName: 'ACTA_HUMAN',
    gene: 'ACTA2',
    organism: 'Homo sapiens',
    name: 'Actin, aortic smooth muscle',
    clade: 'animals',
    function:
      'Actin forms the filaments of the cytoskeleton; this isoform is found in vascular smooth muscle, where it carries contraction.',
    domains: [['PF00022', 3, 377]],
    md5: 'efebacde779fb9ede77f2039ec6cfe09',
    sequence:
      'MCEEEDSTALVCDNGSGLCKAGFAGDDAPRAVFPSIVGRPRHQGVMVGMGQKDSYVGDEAQSKRGILTLKYPIEHGIITNWDDMEKIWHHSFYNELRVAPEEHPTLLTEAPLNPKANREKMTQIMFETFNVPAMYVAIQAVLSLYASGRTTGIVLDSGDGVTHNVPIYEGYALPHAIMRLDLAGRDLTDYLMKILTERGYSFVTTAEREIVRDIKEKLCYVALDFENEMATAASSSSLEKSYELPDGQVITIGNERFRCPETLFQPSFIGMESAGIHETTYNSIMKCDIDIRKDLYANNVLSGGTTMYPGIADRMQKEITALAPSTMKIKIIAPPERKYSVWIGGSILASLSTFQQMWISKQEYDEAGPSIVHRKCF',
  },
  {
    accession: 'P42574',
    entryName: 'CASP3_HUMAN',
    gene: 'CASP3',
    organism: 'Homo sapiens',
    name: 'Caspase-3',
    clade: 'vertebrates',
    function:
      'Executioner cysteine protease of apoptosis that cleaves its targets after aspartate, in DEVD-like motifs.',
    domains: [['PF00656', 37, 277]],
    md5: 'cd9050995bb3aa9f42ca5d1eedd10b2d',
    sequence:
      'MENTENSVDSKSIKNLEPKIIHGSESMDSGISLDNSYKMDYPEMGLCIIINNKNFHKSTGMTSRSGTDVDAANLRETFRNLKYEVRNKNDLTREEIVELMRDVSKEDHSKRSSFVCVLLSHGEEGIIFGTNGPVDLKKITNFFRGDRCRSLTGKPKLFIIQACRGTELDCGIETDSGVDDDMACHKIPVEADFLYAYSTAPGYYSWRNSKDGSWFIQSLCAMLKQYADKLEFMHILTRVNRKVATEFESFSFDATFHAKKQIPCIVSMLTKELYFYH',
  },
  {
    accession: 'P08571',
    entryName: 'CD14_HUMAN',
    gene: 'CD14',
    organism: 'Homo sapiens',
    name: 'Monocyte differentiation antigen CD14',
    clade: 'mammals',
    function:
      'Co-receptor for bacterial lipopolysaccharide that hands it to the TLR4-MD2 complex of the innate immune response.',
    domains: [
      ['PF13855', 90, 150],
      ['PF13855', 200, 260],
    ],
    md5: 'a3f8ce0b95a063d65d4bf0361992c7f5',
    sequence:
      'MERASCLLLLLLPLVHVSATTPEPCELDDEDFRCVCNFSEPQPDWSEAFQCVSAVEVEIHAGGLNLEPFLKRVDADADPRQYADTVKALRVRRLTVGAAQVPAQLLVGALRVLAYSRLKELTLEDLKITGTMPPLPLEATGLALSSLRLRNVSWATGRSWLAELQQWLKPGLKVLSIAQAHSPAFSCEQVRAFPALTSLDLSDNPGLGERGLMAALCPHKFPAIQNLALRNTGMETPTGVCAALAAAGVQPHSLDLSHNSLRATVNPSAPRCMWSSALNSLNLSFAGLEQVPKGLPAKLRVLDLSCNRLNRAPQPDELPEVDNLTLDGNPFLVPGTALPHEGSMNSGVVPACARSTLSVGVSGTLVLLQGARGFA',
  },
  {
    accession: 'Q9NZQ7',
    entryName: 'PD1L1_HUMAN',
    gene: 'CD274',
    organism: 'Homo sapiens',
    name: 'Programmed cell death 1 ligand 1',
    clade: 'mammals',
    function:
      'Ligand of the inhibitory receptor PD-1; its binding holds back T-cell activation and protects tissues from autoimmunity.',
    domains: [
      ['PF07686', 19, 127],
      ['PF08205', 136, 222],
    ],
    md5: '59e77826124f78fb87da94c44752feb3',
    sequence:
      'MRIFAVFIFMTYWHLLNAFTVTVPKDLYVVEYGSNMTIECKFPVEKQLDLAALIVYWEMEDKNIIQFVHGEEDLKVQHSSYRQRARLLKDQLSLGNAALQITDVKLQDAGVYRCMISYGGADYKRITVKVNAPYNKINQRILVVDPVTSEHELTCQAEGYPKAEVIWTSSDHQVLSGKTTTTNSKREEKLFNVTSTLRINTTTNEIFYCTFRRLDPEENHTAELVIPELPLAHPPNERTHLVILGAILLCLGVALTFIFRLRKGRMMDVKKCGIQDTNSKKQSDTHLEET',
  },
  {
    accession: 'P28906',
    entryName: 'CD34_HUMAN',
    gene: 'CD34',
    organism: 'Homo sapiens',
    name: 'Hematopoietic progenitor cell antigen CD34',
    clade: 'mammals',
    function:
      'Sialomucin on haematopoietic stem cells and endothelium that mediates adhesion to the stroma of the bone marrow.',
    domains: [['PF06365', 190, 385]],
    md5: 'e07b6b281e20986128c806472ef66ed8',
    sequence:
      'MLVRRGARAGPRMPRGWTALCLLSLLPSGFMSLDNNGTATPELPTQGTFSNVSTNVSYQETTTPSTLGSTSLHPVSQHGNEATTNITETTVKFTSTSVITSVYGNTNSSVQSQTSVISTVFTTPANVSTPETTLKPSLSPGNVSDLSTTSTSLATSPTKPYTSSSPILSDIKAEIKCSGIREVKLTQGICLEQNKTSSCAEFKKDRGEGLARVLCGEEQADADAGAQVCSLLLAQSEVRPQCLLLVLANRTEISSKLQLMKKHQSDLKKLGILDFTEQDVASHQSYSQKTLIALVTSGALLAVLGITGYFLMNRRSWSPTGERLGEDPYYTENGGGQGYSSGPGTSPEAQGKASVNRGAQENGTGQATSRNGHSARQHVVADTEL',
  },
  {
    accession: 'P07766',
    entryName: 'CD3E_HUMAN',
    gene: 'CD3E',
    organism: 'Homo sapiens',
    name: 'T-cell surface glycoprotein CD3 epsilon chain',
    clade: 'mammals',
    function:
      'Signalling chain of the T-cell receptor complex; its ITAM is phosphorylated when the receptor meets an antigen.',
    domains: [['PF16681', 32, 118]],
    md5: 'dd7f414238b9cb3717a9ff777893bd39',
    sequence:
      'MQSGTHWRVLGLCLLSVGVWGQDGNEEMGGITQTPYKVSISGTTVILTCPQYPGSEILWQHNDKNIGGDEDDKNIGSDEDHLSLKEFSELEQSGYYVCYPRGSKPEDANFYLYLRARVCENCMEMDVMSVATIVIVDICITGGLLLLVYYWSKNRKAKAKPVTRGAGAGGRQRGQNKERPPPVPNPDYEPIRKGQRDLYSGLNQRRI',
  },
  {
    accession: 'P01730',
    entryName: 'CD4_HUMAN',
    gene: 'CD4',
    organism: 'Homo sapiens',
    name: 'T-cell surface glycoprotein CD4',
    clade: 'mammals',
    function:
      'Co-receptor of helper T cells that binds MHC class II and brings the kinase Lck to the T-cell receptor; also the receptor of HIV-1.',
    domains: [
      ['PF05790', 127, 203],
      ['PF09191', 207, 314],
      ['PF12104', 425, 452],
    ],
    md5: '91ad571225fa48d4b2c4698eadd20e4a',
    sequence:
      'MNRGVPFRHLLLVLQLALLPAATQGKKVVLGKKGDTVELTCTASQKKSIQFHWKNSNQIKILGNQGSFLTKGPSKLNDRADSRRSLWDQGNFPLIIKNLKIEDSDTYICEVEDQKEEVQLLVFGLTANSDTHLLQGQSLTLTLESPPGSSPSVQCRSPRGKNIQGGKTLSVSQLELQDSGTWTCTVLQNQKKVEFKIDIVVLAFQKASSIVYKKEGEQVEFSFPLAFTVEKLTGSGELWWQAERASSSKSWITFDLKNKEVSVKRVTQDPKLQMGKKLPLHLTLPQALPQYAGSGNLTLALEAKTGKLHQEVNLVVMRATQLQKNLTCEVWGPTSPKLMLSLKLENKEAKVSKREKAVWVLNPEAGMWQCLLSDSGQVLLESNIKVLPTWSTPVQPMALIVLGGVAGLLLFIGLGIFFCVRCRHRRRQAERMSQIKRLLSEKKTCQCPHRFQKTCSPI',
  },
  {
    accession: 'P34810',
    entryName: 'CD68_HUMAN',
    gene: 'CD68',
    organism: 'Homo sapiens',
    name: 'Macrosialin',
    clade: 'mammals',
    function:
      'Heavily glycosylated lysosomal and plasma-membrane glycoprotein of macrophages, a scavenger receptor of low selectivity.',
    domains: [['PF01299', 190, 354]],
    md5: '4adf59270764fe0ae91244785dfad70d',
    sequence:
      'MRLAVLFSGALLGLLAAQGTGNDCPHKKSATLLPSFTVTPTVTESTGTTSHRTTKSHKTTTHRTTTTGTTSHGPTTATHNPTTTSHGNVTVHPTSNSTATSQGPSTATHSPATTSHGNATVHPTSNSTATSPGFTSSAHPEPPPPSPSPSPTSKETIGDYTWTNGSQPCVHLQAQIQIRVMYTTQGGGEAWGISVLNPNKTKVQGSCEGAHPHLLLSFPYGHLSFGFMQDLQQKVVYLSYMAVEYNVSFPHAAQWTFSAQNASLRDLQAPLGQSFSCSNSSIILSPAVHLDLLSLRLQAAQLPHTGVFGQSFSCPSDRSILLPLIIGLILLGLLALVLIAFCIIRRRPSAYQAL',
  },
  {
    accession: 'P01732',
    entryName: 'CD8A_HUMAN',
    gene: 'CD8A',
    organism: 'Homo sapiens',
    name: 'T-cell surface glycoprotein CD8 alpha chain',
    clade: 'mammals',
    function:
      'Co-receptor of cytotoxic T cells that binds MHC class I and brings the kinase Lck to the T-cell receptor.',
    domains: [['PF07686', 27, 135]],
    md5: '7e74731a8583eb61055862c16f8ddaf9',
    sequence:
      'MALPVTALLLPLALLLHAARPSQFRVSPLDRTWNLGETVELKCQVLLSNPTSGCSWLFQPRGAAASPTFLLYLSQNKPKAAEGLDTQRFSGKRLGDTFVLTLSDFRRENEGYYFCSALSNSIMYFSHFVPVFLPAKPTTTPAPRPPTPAPTIASQPLSLRPEACRPAAGGAVHTRGLDFACDIYIWAPLAGTCGVLLLSLVITLYCNHRNRRRVCKCPRPVVKSGDKPSLSARYV',
  },
  {
    accession: 'P08637',
    entryName: 'FCG3A_HUMAN',
    gene: 'FCGR3A',
    organism: 'Homo sapiens',
    name: 'Low affinity immunoglobulin gamma Fc region receptor III-A',
    clade: 'mammals',
    function:
      'Low-affinity receptor for the Fc part of IgG on natural killer cells and macrophages; triggers antibody-dependent cytotoxicity.',
    domains: [
      ['PF13895', 22, 104],
      ['PF13895', 110, 189],
    ],
    md5: '12f64cedbceee9c1668536f7a58f69b4',
    sequence:
      'MWQLLLPTALLLLVSAGMRTEDLPKAVVFLEPQWYRVLEKDSVTLKCQGAYSPEDNSTQWFHNESLISSQASSYFIDAATVDDSGEYRCQTNLSTLSDPVQLEVHIGWLLLQAPRWVFKEEDPIHLRCHSWKNTALHKVTYLQNGKGRKYFHHNSDFYIPKATLKDSGSYFCRGLFGSKNVSSETVNITITQGLAVSTISSFFPPGYQVSFCLVMVLLFAVDTGLYFSVKTNIRSSTRDWKDHKFKWRKDPQDK',
  },
  {
    accession: 'P68431',
    entryName: 'H31_HUMAN',
    gene: 'HIST1H3A',
    organism: 'Homo sapiens',
    name: 'Histone H3.1',
    clade: 'eukaryotes',
    function:
      'Core component of the nucleosome; its N-terminal tail carries many modifications that regulate access to the DNA.',
    domains: [['PF00125', 1, 132]],
    md5: '03d338f712c6cd32ab3e3832fd0a111a',
    sequence:
      'MARTKQTARKSTGGKAPRKQLATKAARKSAPATGGVKKPHRYRPGTVALREIRRYQKSTELLIRKLPFQRLVREIAQDFKTDLRFQSSAVMALQEACEAYLVGLFEDTNLCAIHAKRVTIMPKDIQLARRIRGERA',
  },
  {
    accession: 'P05787',
    entryName: 'K2C8_HUMAN',
    gene: 'KRT8',
    organism: 'Homo sapiens',
    name: 'Keratin, type II cytoskeletal 8',
    clade: 'vertebrates',
    function: 'Type II keratin of simple epithelia that pairs with keratin 18 into intermediate filaments.',
    domains: [
      ['PF16208', 15, 90],
      ['PF00038', 90, 401],
    ],
    md5: '1d5bf5db4dd52dab6e47f86ef64a9885',
    sequence:
      'MSIRVTQKSYKVSTSGPRAFSSRSYTSGPGSRISSSSFSRVGSSNFRGGLGGGYGGASGMGGITAVTVNQSLLSPLVLEVDPNIQAVRTQEKEQIKTLNNKFASFIDKVRFLEQQNKMLETKWSLLQQQKTARSNMDNMFESYINNLRRQLETLGQEKLKLEAELGNMQGLVEDFKNKYEDEINKRTEMENEFVLIKKDVDEAYMNKVELESRLEGLTDEINFLRQLYEEEIRELQSQISDTSVVLSMDNSRSLDMDSIIAEVKAQYEDIANRSRAEAESMYQIKYEELQSLAGKHGDDLRRTKTEISEMNRNISRLQAEIEGLKGQRASLEAAIADAEQRGELAIKDANAKLSELEAALQRAKQDMARQLREYQELMNVKLALDIEIATYRKLLEGEESRLESGMQNMSIHTKTTSGYAGGLSSAYGGLTSPGLSYSLGSSFGSGAGSSSFSRTSSSRAVVVKKIETRDGKLVSESSDVLPK',
  },
  {
    accession: 'P11836',
    entryName: 'CD20_HUMAN',
    gene: 'MS4A1',
    organism: 'Homo sapiens',
    name: 'B-lymphocyte antigen CD20',
    clade: 'mammals',
    function:
      'B-lymphocyte membrane protein that takes part in store-operated calcium entry; the target of rituximab.',
    domains: [['PF04103', 48, 213]],
    md5: 'f7ca8aee02e876e84c0ea83aa257eabf',
    sequence:
      'MTTPRNSVNGTFPAEPMKGPIAMQSGPKPLFRRMSSLVGPTQSFFMRESKTLGAVQIMNGLFHIALGGLLMIPAGIYAPICVTVWYPLWGGIMYIISGSLLAATEKNSRKCLVKGKMIMNSLSLFAAISGMILSIMDILNIKISHFLKMESLNFIRAHTPYINIYNCEPANPSEKNSPSTQYCYSIQSLFLGILSVMLIFAFFQELVIAGIVENEWKRTCSRPKSNIVLLSAEEKKEQTIEIKEEVVGLTETSSQPKNEEDIEIIPIQEEEEEETETNFPEPPQDQESSPIENDSSP',
  },
  {
    accession: 'P12004',
    entryName: 'PCNA_HUMAN',
    gene: 'PCNA',
    organism: 'Homo sapiens',
    name: 'DNA sliding clamp PCNA',
    clade: 'eukaryotes',
    function:
      'Ring-shaped trimer that encircles the DNA and keeps polymerases delta and epsilon on it during replication and repair.',
    domains: [
      ['PF00705', 0, 125],
      ['PF02747', 126, 254],
    ],
    md5: '177be4aca1243f08cd651ac6859c278d',
    sequence:
      'MFEARLVQGSILKKVLEALKDLINEACWDISSSGVNLQSMDSSHVSLVQLTLRSEGFDTYRCDRNLAMGVNLTSMSKILKCAGNEDIITLRAEDNADTLALVFEAPNQEKVSDYEMKLMDLDVEQLGIPEQEYSCVVKMPSGEFARICRDLSHIGDAVVISCAKDGVKFSASGELGNGNIKLSQTSNVDKEEEAVTIEMNEPVQLTFALRYLNFFTKATPLSSTVTLSMSADVPLVVEYKIADMGHLKYYLAPKIEDEEGS',
  },
  {
    accession: 'Q15116',
    entryName: 'PDCD1_HUMAN',
    gene: 'PDCD1',
    organism: 'Homo sapiens',
    name: 'Programmed cell death protein 1',
    clade: 'mammals',
    function:
      'Inhibitory receptor on activated T cells; recruits phosphatases that quench signalling after it met PD-L1 or PD-L2.',
    domains: [['PF07686', 35, 145]],
    md5: '9d3bad62b9c482f023605c4836d94d8f',
    sequence:
      'MQIPQAPWPVVWAVLQLGWRPGWFLDSPDRPWNPPTFSPALLVVTEGDNATFTCSFSNTSESFVLNWYRMSPSNQTDKLAAFPEDRSQPGQDCRFRVTQLPNGRDFHMSVVRARRNDSGTYLCGAISLAPKAQIKESLRAELRVTERRAEVPTAHPSPSPRPAGQFQTLVVGVVGGLLGSLVLLVWVLAVICSRAARGTIGARRTGQPLKEDPSAVPVFSVDYGELDFQWREKTPEPPVPCVPEQTEYATIVFPSGMGTSSPARRGSADGPRSAQPLRPEDGHCSWPL',
  },
  {
    accession: 'P18827',
    entryName: 'SDC1_HUMAN',
    gene: 'SDC1',
    organism: 'Homo sapiens',
    name: 'Syndecan-1',
    clade: 'mammals',
    function:
      'Heparan-sulfate proteoglycan that links the extracellular matrix to the cytoskeleton and takes part in signalling.',
    domains: [['PF01034', 246, 308]],
    md5: '972cbca583fb8b8c248ceeea723fd06b',
    sequence:
      'MRRAALWLWLCALALSLQPALPQIVATNLPPEDQDGSGDDSDNFSGSGAGALQDITLSQQTPSTWKDTQLLTAIPTSPEPTGLEATAASTSTLPAGEGPKEGEAVVLPEVEPGLTAREQEATPRPRETTQLPTTHLASTTTATTAQEPATSHPHRDMQPGHHETSTPAGPSQADLHTPHTEDGGPSATERAAEDGASSQLPAAEGSGEQDFTFETSGENTAVVAVEPDRRNQSPVDQGATGASQGLLDRKEVLGGVIAGGLVGLIFAVCLVGFMLYRMKKKDEGSYSLEEPKQANGGAYQKPTKQEEFYA',
  },
  {
    accession: 'Q01995',
    entryName: 'TAGL_HUMAN',
    gene: 'TAGLN',
    organism: 'Homo sapiens',
    name: 'Transgelin',
    clade: 'animals',
    function: 'Actin cross-linking protein of smooth muscle and an early marker of its differentiation.',
    domains: [
      ['PF00307', 24, 137],
      ['PF00402', 174, 199],
    ],
    md5: '6c65b1618e7720758f22f9c655aeeac6',
    sequence:
      'MANKGPSYGMSREVQSKIEKKYDEELEERLVEWIIVQCGPDVGRPDRGRLGFQVWLKNGVILSKLVNSLYPDGSKPVKVPENPPSMVFKQMEQVAQFLKAAEDYGVIKTDMFQTVDLFEGKDMAAVQRTLMALGSLAVTKNDGHYRGDPNWFMKKAQEHKREFTESQLQEGKHVIGLQMGSNRGASQAGMTGYGRPRQIIS',
  },
  {
    accession: 'Q9UL17',
    entryName: 'TBX21_HUMAN',
    gene: 'TBX21',
    organism: 'Homo sapiens',
    name: 'T-box transcription factor TBX21',
    clade: 'vertebrates',
    function:
      'Master transcription factor of T helper 1 development; switches on interferon gamma and represses the other fates.',
    domains: [['PF00907', 135, 328]],
    md5: '99510a7bd954975e16f950fe319df9c1',
    sequence:
      'MGIVEPGCGDMLTGTEPMPGSDEGRAPGADPQHRYFYPEPGAQDADERRGGGSLGSPYPGGALVPAPPSRFLGAYAYPPRPQAAGFPGAGESFPPPADAEGYQPGEGYAAPDPRAGLYPGPREDYALPAGLEVSGKLRVALNNHLLWSKFNQHQTEMIITKQGRRMFPFLSFTVAGLEPTSHYRMFVDVVLVDQHHWRYQSGKWVQCGKAEGSMPGNRLYVHPDSPNTGAHWMRQEVSFGKLKLTNNKGASNNVTQMIVLQSLHKYQPRLHIVEVNDGEPEAACNASNTHIFTFQETQFIAVTAYQNAEITQLKIDNNPFAKGFRENFESMYTSVDTSIPSPPGPNCQFLGGDHYSPLLPNQYPVPSRFYPDLPGQAKDVVPQAYWLGAPRDHSYEAEFRAVSMKPAFLPSAPGPTMSYYRGQEVLAPGAGWPVAPQYPPKMGPASWFRPMRTLPMEPGPGGSEGRGPEDQGPPLVWTEIAPIRPESSDSGLGEGDSKRRRVSPYPSSGDSSSPAGAPSPFDKEAEGQFYNYFPN',
  },
  {
    accession: 'Q15661',
    entryName: 'TRYB1_HUMAN',
    gene: 'TPSAB1',
    organism: 'Homo sapiens',
    name: 'Tryptase alpha/beta-1',
    clade: 'mammals',
    function:
      'Trypsin-like serine protease stored in the granules of mast cells and active as a tetramer held together by heparin.',
    domains: [['PF00089', 30, 267]],
    md5: '2b617ec5424393e3deb4e74ecd68dc1f',
    sequence:
      'MLNLLLLALPVLASRAYAAPAPGQALQRVGIVGGQEAPRSKWPWQVSLRVHGPYWMHFCGGSLIHPQWVLTAAHCVGPDVKDLAALRVQLREQHLYYQDQLLPVSRIIVHPQFYTAQIGADIALLELEEPVNVSSHVHTVTLPPASETFPPGMPCWVTGWGDVDNDERLPPPFPLKQVKVPIMENHICDAKYHLGAYTGDDVRIVRDDMLCAGNTRRDSCQGDSGGPLVCKVNGTWLQAGVVSWGEGCAQPNRPGIYTRVTYYLDWIHHYVPKKP',
  },
  {
    accession: 'P69905',
    entryName: 'HBA_HUMAN',
    gene: 'HBA1',
    organism: 'Homo sapiens',
    name: 'Hemoglobin subunit alpha',
    clade: 'vertebrates',
    function: 'Alpha chain of haemoglobin, which carries oxygen from the lung to the tissues.',
    domains: [['PF00042', 6, 107]],
    md5: '6077c452d1dc6151040b2b179e2294c7',
    sequence:
      'MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTLAAHLPAEFTPAVHASLDKFLASVSTVLTSKYR',
  },
  {
    accession: 'P68871',
    entryName: 'HBB_HUMAN',
    gene: 'HBB',
    organism: 'Homo sapiens',
    name: 'Hemoglobin subunit beta',
    clade: 'vertebrates',
    function: 'Beta chain of haemoglobin, which carries oxygen from the lung to the tissues.',
    domains: [['PF00042', 7, 112]],
    md5: '209d686939d0b8d1ea089368150140e2',
    sequence:
      'MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPKVKAHGKKVLGAFSDGLAHLDNLKGTFATLSELHCDKLHVDPENFRLLGNVLVCVLAHHFGKEFTPPVQAAYQKVVAGVANALAHKYH',
  },
  {
    accession: 'P02144',
    entryName: 'MYG_HUMAN',
    gene: 'MB',
    organism: 'Homo sapiens',
    name: 'Myoglobin',
    clade: 'vertebrates',
    function: 'Monomeric haem protein that stores oxygen in muscle and eases its way to the mitochondria.',
    domains: [['PF00042', 7, 113]],
    md5: 'b840eb6446f9f188023424af40675a36',
    sequence:
      'MGLSDGEWQLVLNVWGKVEADIPGHGQEVLIRLFKGHPETLEKFDKFKHLKSEDEMKASEDLKKHGATVLTALGGILKKKGHHEAEIKPLAQSHATKHKIPVKYLEFISECIIQVLQSKHPGDFGADAQGAMNKALELFRKDMASNYKELGFQG',
  },
  {
    accession: 'P01308',
    entryName: 'INS_HUMAN',
    gene: 'INS',
    organism: 'Homo sapiens',
    name: 'Insulin',
    clade: 'vertebrates',
    function:
      'Hormone that lowers blood glucose by opening cells to it and by speeding glycolysis and the synthesis of glycogen.',
    domains: [['PF00049', 28, 109]],
    md5: '12e9c9e4e2835c302e8ba615115edda3',
    sequence:
      'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQKRGIVEQCCTSICSLYQLENYCN',
  },
  {
    accession: 'P0DP23',
    entryName: 'CALM1_HUMAN',
    gene: 'CALM1',
    organism: 'Homo sapiens',
    name: 'Calmodulin-1',
    clade: 'eukaryotes',
    function:
      'Calcium sensor with two pairs of EF hands that wraps around the target helices of kinases, phosphatases and channels.',
    domains: [
      ['PF13499', 9, 73],
      ['PF13499', 82, 146],
    ],
    md5: 'ebd0aa0bc77b635530a6938487b7099b',
    sequence:
      'MADQLTEEQIAEFKEAFSLFDKDGDGTITTKELGTVMRSLGQNPTEAELQDMINEVDADGNGTIDFPEFLTMMARKMKDTDSEEEIREAFRVFDKDGNGYISAAELRHVMTNLGEKLTDEEVDEMIREADIDGDGQVNYEEFVQMMTAK',
  },
  {
    accession: 'P99999',
    entryName: 'CYC_HUMAN',
    gene: 'CYCS',
    organism: 'Homo sapiens',
    name: 'Cytochrome c',
    clade: 'eukaryotes',
    function:
      'Electron carrier between complexes III and IV of the respiratory chain; once in the cytosol it starts apoptosis.',
    domains: [['PF00034', 4, 103]],
    md5: '2bdff12130aec0c85a14a8e32f97d502',
    sequence:
      'MGDVEKGKKIFIMKCSQCHTVEKGGKHKTGPNLHGLFGRKTGQAPGYSYTAANKNKGIIWGEDTLMEYLENPKKYIPGTKMIFVGIKKKEERADLIAYLKKATNE',
  },
  {
    accession: 'P00698',
    entryName: 'LYSC_CHICK',
    gene: 'LYZ',
    organism: 'Gallus gallus',
    name: 'Lysozyme C',
    clade: 'vertebrates',
    function: 'Hydrolyses the beta-1,4 bonds of bacterial peptidoglycan; the lysozyme of egg white.',
    domains: [['PF00062', 18, 146]],
    md5: 'e485279d5bf21caa3b7967c566c68a5a',
    sequence:
      'MRSLLILVLCFLPLAALGKVFGRCELAAAMKRHGLDNYRGYSLGNWVCAAKFESNFNTQATNRNTDGSTDYGILQINSRWWCNDGRTPGSRNLCNIPCSALLSSDITASVNCAKKIVSDGNGMNAWVAWRNRCKGTDVQAWIRGCRL',
  },
  {
    accession: 'P42212',
    entryName: 'GFP_AEQVI',
    gene: 'GFP',
    organism: 'Aequorea victoria',
    name: 'Green fluorescent protein',
    clade: 'cnidarians',
    function:
      'Emits green light after energy transfer from aequorin; its chromophore forms from residues Ser-Tyr-Gly of its own chain.',
    domains: [['PF01353', 5, 225]],
    md5: 'f4ab4243622ddcc76e0b9b6d249b172a',
    sequence:
      'MSKGEELFTGVVPILVELDGDVNGHKFSVSGEGEGDATYGKLTLKFICTTGKLPVPWPTLVTTFSYGVQCFSRYPDHMKQHDFFKSAMPEGYVQERTIFFKDDGNYKTRAEVKFEGDTLVNRIELKGIDFKEDGNILGHKLEYNYNSHNVYIMADKQKNGIKVNFKIRHNIEDGSVQLADHYQQNTPIGDGPVLLPDNHYLSTQSALSKDPNEKRDHMVLLEFVTAAGITHGMDELYK',
  },
  {
    accession: 'P01116-2',
    entryName: 'RASK_HUMAN',
    gene: 'KRAS',
    organism: 'Homo sapiens',
    name: 'GTPase KRas, isoform 2B',
    clade: 'animals',
    function:
      'GTPase that switches growth signalling on with GTP and off with GDP; the splice form 4B with a polybasic tail.',
    domains: [['PF00071', 4, 164]],
    md5: '514dd44e461b847a53cc4e078c2583ff',
    sequence:
      'MTEYKLVVVGAGGVGKSALTIQLIQNHFVDEYDPTIEDSYRKQVVIDGETCLLDILDTAGQEEYSAMRDQYMRTGEGFLCVFAINNTKSFEDIHHYREQIKRVKDSEDVPMVLVGNKCDLPSRTVDTKQAQDLARSYGIPFIETSAKTRQGVDDAFYTLVREIRKHKEKMSKDGKKKKKKSKTKCVIM',
  },
  {
    accession: 'P0CG48',
    entryName: 'UBC_HUMAN',
    gene: 'UBC',
    organism: 'Homo sapiens',
    name: 'Polyubiquitin-C',
    clade: 'eukaryotes',
    function:
      'Precursor of nine ubiquitins in a row; ubiquitin marks proteins by its covalent bond to their lysines, for degradation by the proteasome among others.',
    domains: Array.from({ length: 9 }, (_, n): ['PF00240', number, number] => [
      'PF00240',
      76 * n,
      76 * n + 74,
    ]),
    md5: '63210f385305542b5e9a895d4fe2babb',
    sequence: `${UBIQUITIN.repeat(9)}V`,
    mature: { name: 'Ubiquitin', start: 0, end: 76 },
  },
];
